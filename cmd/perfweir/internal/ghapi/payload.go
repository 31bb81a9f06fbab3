package ghapi

import "time"

// commonJSON is what payloads of all kinds have. Each kind is decoded apart: the
// less is read, the less an event of another kind or an odd server can make it fail.
type commonJSON struct {
	Repository repositoryJSON `json:"repository"`
	Sender     struct {
		Login string `json:"login"`
	} `json:"sender"`
}

type pushJSON struct {
	Ref     string `json:"ref"`
	Before  string `json:"before"`
	After   string `json:"after"`
	Created bool   `json:"created"`
	Deleted bool   `json:"deleted"`
}

type repositoryJSON struct {
	ID            int64  `json:"id"`
	FullName      string `json:"full_name"`
	DefaultBranch string `json:"default_branch"`
}

type branchJSON struct {
	Ref  string          `json:"ref"`
	SHA  string          `json:"sha"`
	Repo *repositoryJSON `json:"repo"` // null: the fork is gone
}

// pullJSON is a pull request in payloads and in answers.
type pullJSON struct {
	Number int        `json:"number"`
	State  string     `json:"state"`
	Head   branchJSON `json:"head"`
	Base   branchJSON `json:"base"`
	Labels []struct {
		Name string `json:"name"`
	} `json:"labels"`
}

func (p *pullJSON) labels() []string {
	var names []string
	for _, l := range p.Labels {
		names = append(names, l.Name)
	}
	return names
}

type mergeGroupJSON struct {
	BaseRef string `json:"base_ref"`
	BaseSHA string `json:"base_sha"`
	HeadRef string `json:"head_ref"`
	HeadSHA string `json:"head_sha"`
}

// workflowRunJSON is a workflow run in payloads and in answers. go-github v62 has
// no path.
type workflowRunJSON struct {
	ID             int64           `json:"id"`
	Number         int             `json:"run_number"`
	Attempt        int             `json:"run_attempt"`
	Event          string          `json:"event"`
	Path           string          `json:"path"`
	Status         string          `json:"status"`
	Conclusion     string          `json:"conclusion"`
	HeadSHA        string          `json:"head_sha"`
	HeadBranch     string          `json:"head_branch"`
	Repository     repositoryJSON  `json:"repository"`
	HeadRepository *repositoryJSON `json:"head_repository"` // null: the fork is gone
	CreatedAt      *time.Time      `json:"created_at"`
	StartedAt      *time.Time      `json:"run_started_at"`
	HTMLURL        string          `json:"html_url"`
}
