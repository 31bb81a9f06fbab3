package ghtest

import "time"

// State is everything that the fake knows. It is also the stand's state file:
// JSON with the keys below, times in RFC 3339, what is left out has its zero or
// the default that is named. A state with one run, one pull request and its
// commits:
//
//	{"repository": {"owner": "acme", "name": "widgets", "id": 4242, "default_branch": "main"},
//	 "tokens": {"ghs_fake": {"app": "github-actions", "permissions": {"actions": "read", "checks": "write"}}},
//	 "branches": {"main": "1111111111111111111111111111111111111111"},
//	 "commits": [{"sha": "1111111111111111111111111111111111111111", "files": {"perfweir.yml": "suite: demo\n"}},
//	             {"sha": "2222222222222222222222222222222222222222", "parents": ["1111111111111111111111111111111111111111"]}],
//	 "runs": [{"id": 4711, "path": ".github/workflows/nightly.yml", "event": "push", "head_branch": "main",
//	           "head_sha": "1111111111111111111111111111111111111111", "status": "completed", "conclusion": "success"}],
//	 "pulls": [{"number": 7, "title": "Faster", "user": "mona", "head": {"ref": "faster", "sha": "2222222222222222222222222222222222222222"},
//	            "base": {"ref": "main", "sha": "1111111111111111111111111111111111111111"}}]}
type State struct {
	Repository Repository `json:"repository"`
	// Tokens by their text. None given: DefaultToken is the GITHUB_TOKEN of a
	// workflow, with every permission.
	Tokens        map[string]Token  `json:"tokens,omitempty"`
	Collaborators map[string]string `json:"collaborators,omitempty"` // login to "admin", "write", "read", "none"; others are not known
	Limit         Limit             `json:"limit"`
	Branches      map[string]string `json:"branches,omitempty"`  // name to commit
	Commits       []Commit          `json:"commits,omitempty"`   // parents before children
	Workflows     []string          `json:"workflows,omitempty"` // files that are there though nothing ran yet
	Runs          []Run             `json:"runs,omitempty"`
	Artifacts     []Artifact        `json:"artifacts,omitempty"`
	Pulls         []Pull            `json:"pulls,omitempty"`
	Issues        []Issue           `json:"issues,omitempty"` // every pull request is one, and is added where it lacks
	Comments      []Comment         `json:"comments,omitempty"`
	CheckRuns     []CheckRun        `json:"check_runs,omitempty"`
	Statuses      []Status          `json:"statuses,omitempty"`
}

// Repository is the one repository of the fake. Zero: acme/widgets, 4242, main.
type Repository struct {
	Owner         string `json:"owner"`
	Name          string `json:"name"`
	ID            int64  `json:"id"`
	DefaultBranch string `json:"default_branch"`
	Fork          bool   `json:"fork,omitempty"`
	Private       bool   `json:"private,omitempty"`
}

// FullName is OWNER/NAME.
func (r Repository) FullName() string { return r.Owner + "/" + r.Name }

// Fork is another repository that a run or a pull request comes from. The zero
// value stands for the repository itself.
type Fork struct {
	FullName string `json:"full_name,omitempty"`
	ID       int64  `json:"id,omitempty"`
	Gone     bool   `json:"gone,omitempty"` // deleted since: the API says null
}

func (f Fork) isOther() bool { return f != Fork{} }

// Run is a workflow run. Zero fields: number and attempt 1, path
// .github/workflows/ci.yml, event push, the default branch, completed with
// success, made now by "mona".
type Run struct {
	ID         int64     `json:"id"`
	Number     int       `json:"run_number,omitempty"`
	Attempt    int       `json:"run_attempt,omitempty"`
	Path       string    `json:"path,omitempty"` // may carry "@refs/heads/main"
	Event      string    `json:"event,omitempty"`
	HeadBranch string    `json:"head_branch,omitempty"`
	HeadSHA    string    `json:"head_sha"`
	Head       Fork      `json:"head_repository,omitzero"`
	Status     string    `json:"status,omitempty"`
	Conclusion string    `json:"conclusion,omitempty"` // of completed ones
	Actor      string    `json:"actor,omitempty"`
	Pulls      []int     `json:"pull_requests,omitempty"` // GitHub lists none for forks
	CreatedAt  time.Time `json:"created_at,omitzero"`
	StartedAt  time.Time `json:"run_started_at,omitzero"` // of this attempt; zero: CreatedAt
}

// Artifact is what a run uploaded: bytes as the blob store has them, in Zip or
// in a file that is read when it is asked for.
type Artifact struct {
	ID          int64     `json:"id"`
	RunID       int64     `json:"run_id"`
	Name        string    `json:"name"`
	Zip         []byte    `json:"zip,omitempty"`
	File        string    `json:"file,omitempty"`
	ContentType string    `json:"content_type,omitempty"` // zero: application/zip
	Expired     bool      `json:"expired,omitempty"`
	Vanished    bool      `json:"vanished,omitempty"`  // listed as good, 410 when it is downloaded
	NoDigest    bool      `json:"no_digest,omitempty"` // as of older servers
	NoRun       bool      `json:"no_run,omitempty"`    // the listing tells no workflow run, as of older servers
	CreatedAt   time.Time `json:"created_at,omitzero"` // zero: now
	ExpiresAt   time.Time `json:"expires_at,omitzero"` // zero: 90 days after CreatedAt
}

// Commit is a commit of the repository. Times decide the order of listings, and
// where they are equal the order in which commits were added.
type Commit struct {
	SHA     string    `json:"sha"`            // 40 hexadecimal digits
	Tree    string    `json:"tree,omitempty"` // zero: made from SHA
	Parents []string  `json:"parents,omitempty"`
	Message string    `json:"message,omitempty"`
	Author  string    `json:"author,omitempty"` // login; zero: "mona"
	Date    time.Time `json:"date,omitzero"`    // zero: now
	// Files are all files of the tree by path; nil: those of the first parent.
	Files map[string]string `json:"files,omitempty"`
}

// Pull is a pull request.
type Pull struct {
	Number         int       `json:"number"`
	Title          string    `json:"title,omitempty"`
	State          string    `json:"state,omitempty"` // zero: open
	User           string    `json:"user,omitempty"`  // zero: "mona"
	Draft          bool      `json:"draft,omitempty"`
	Merged         bool      `json:"merged,omitempty"`
	Head           Ref       `json:"head"`
	Base           Ref       `json:"base"` // Ref zero: the default branch
	MergeCommitSHA string    `json:"merge_commit_sha,omitempty"`
	CreatedAt      time.Time `json:"created_at,omitzero"`
}

// Ref is one side of a pull request.
type Ref struct {
	Ref  string `json:"ref"`
	SHA  string `json:"sha"`
	Repo Fork   `json:"repo,omitzero"`
}

// Issue is the conversation of an issue or a pull request.
type Issue struct {
	Number    int       `json:"number"`
	Title     string    `json:"title,omitempty"`
	User      string    `json:"user,omitempty"`
	State     string    `json:"state,omitempty"` // zero: open
	Locked    bool      `json:"locked,omitempty"`
	Gone      bool      `json:"gone,omitempty"` // 410
	Labels    []string  `json:"labels,omitempty"`
	Events    []Event   `json:"events,omitempty"`
	CreatedAt time.Time `json:"created_at,omitzero"`
}

// Event is what somebody did to an issue: "labeled" and "unlabeled" have a label.
type Event struct {
	ID        int64     `json:"id"`
	Event     string    `json:"event"`
	Actor     string    `json:"actor"`
	Label     string    `json:"label,omitempty"`
	CreatedAt time.Time `json:"created_at,omitzero"`
}

// Comment is a comment on an issue or a pull request.
type Comment struct {
	ID        int64     `json:"id"`
	Issue     int       `json:"issue"`
	User      string    `json:"user"`
	Body      string    `json:"body"`
	CreatedAt time.Time `json:"created_at,omitzero"`
	UpdatedAt time.Time `json:"updated_at,omitzero"`
}

// CheckRun is a check run with its annotations.
type CheckRun struct {
	ID          int64        `json:"id"`
	App         string       `json:"app,omitempty"` // zero: github-actions
	Name        string       `json:"name"`
	HeadSHA     string       `json:"head_sha"`
	ExternalID  string       `json:"external_id,omitempty"`
	DetailsURL  string       `json:"details_url,omitempty"`
	Status      string       `json:"status"`
	Conclusion  string       `json:"conclusion,omitempty"`
	StartedAt   time.Time    `json:"started_at,omitzero"`
	CompletedAt time.Time    `json:"completed_at,omitzero"`
	Title       string       `json:"title,omitempty"`
	Summary     string       `json:"summary,omitempty"`
	Text        string       `json:"text,omitempty"`
	Annotations []Annotation `json:"annotations,omitempty"`
}

// Annotation is a remark of a check run at a line of a file.
type Annotation struct {
	Path        string `json:"path"`
	StartLine   int    `json:"start_line"`
	EndLine     int    `json:"end_line"`
	StartColumn int    `json:"start_column,omitempty"`
	EndColumn   int    `json:"end_column,omitempty"`
	Level       string `json:"annotation_level"`
	Title       string `json:"title,omitempty"`
	Message     string `json:"message"`
	RawDetails  string `json:"raw_details,omitempty"`
}

// Status is a commit status.
type Status struct {
	ID          int64     `json:"id"`
	SHA         string    `json:"sha"`
	Context     string    `json:"context"`
	State       string    `json:"state"`
	Description string    `json:"description,omitempty"`
	TargetURL   string    `json:"target_url,omitempty"`
	Creator     string    `json:"creator,omitempty"`
	CreatedAt   time.Time `json:"created_at,omitzero"`
}

// Token says who a token is and what it may do.
type Token struct {
	// App is the app that the token belongs to; "" makes it a person's.
	App   string `json:"app,omitempty"`
	Login string `json:"login,omitempty"` // zero: the app's bot, or "mona"
	// Permissions as a workflow names them: "actions", "checks", "contents",
	// "issues", "pull-requests", "statuses" to "read" or "write". Nil: all may be
	// written; naming any leaves the others none.
	Permissions map[string]string `json:"permissions,omitempty"`
	ReadOnly    bool              `json:"read_only,omitempty"` // as for a fork's pull request: write is read
	ExpiresAt   time.Time         `json:"expires_at,omitzero"`
}

// Limit is the primary rate limit. Zero: 1,000 requests, the window ends an hour
// after the first.
type Limit struct {
	Limit int       `json:"limit,omitempty"`
	Used  int       `json:"used,omitempty"`
	Reset time.Time `json:"reset,omitzero"`
}
