package ghtest

import (
	"fmt"
	"slices"
)

// edit changes the state under the lock and refuses what GitHub could not have.
// Only tests call what is below: a mistake there stops the test.
func (s *Server) edit(change func(*State)) {
	s.mu.Lock()
	repository := s.state.Repository
	change(&s.state)
	err := s.state.normalise(s.now())
	if s.state.Repository != repository {
		s.templates = map[string]any{}
	}
	s.mu.Unlock()
	if err != nil {
		s.fatal("ghtest: %v", err)
	}
}

// Edit changes the state in place, for what has no function of its own. f must
// not call the server.
func (s *Server) Edit(f func(*State)) { s.edit(f) }

// AddRun adds a workflow run and returns its id, which is made where r has none.
func (s *Server) AddRun(r Run) int64 {
	s.edit(func(st *State) {
		s.fillID(&r.ID)
		st.Runs = append(st.Runs, r)
	})
	return r.ID
}

func (s *Server) fillID(id *int64) {
	if *id == 0 {
		*id = s.nextID()
	}
	s.lastID = max(s.lastID, *id)
}

// AddArtifact gives a workflow run an artifact and returns its id. A name that the
// run has already is an error, as it is at GitHub.
func (s *Server) AddArtifact(run int64, name string, zip []byte, change ...func(*Artifact)) int64 {
	a := Artifact{RunID: run, Name: name, Zip: zip}
	for _, f := range change {
		f(&a)
	}
	s.edit(func(st *State) {
		s.fillID(&a.ID)
		st.Artifacts = append(st.Artifacts, a)
	})
	return a.ID
}

// AddCommit adds a commit and returns its hash, which is made where c has none.
func (s *Server) AddCommit(c Commit) string {
	s.edit(func(st *State) {
		if c.SHA == "" {
			c.SHA = fakeSHA(fmt.Sprintf("commit %d %s %v", len(st.Commits), c.Message, c.Parents))
		}
		st.Commits = append(st.Commits, c)
	})
	return c.SHA
}

// SetBranch points a branch at a commit.
func (s *Server) SetBranch(name, sha string) {
	s.edit(func(st *State) {
		if st.Branches == nil {
			st.Branches = map[string]string{}
		}
		st.Branches[name] = sha
	})
}

// nextNumber is free: issues and pull requests share their numbers.
func (s *State) nextNumber() int {
	highest := 0
	for _, i := range s.Issues {
		highest = max(highest, i.Number)
	}
	return highest + 1
}

// AddPull adds a pull request and returns its number, which is made where p has
// none.
func (s *Server) AddPull(p Pull) int {
	s.edit(func(st *State) {
		p.Number = or(p.Number, st.nextNumber())
		st.Pulls = append(st.Pulls, p)
	})
	return p.Number
}

// AddIssue adds a conversation that is no pull request, and returns its number.
func (s *Server) AddIssue(i Issue) int {
	s.edit(func(st *State) {
		i.Number = or(i.Number, st.nextNumber())
		st.Issues = append(st.Issues, i)
	})
	return i.Number
}

// AddComment adds a comment of somebody and returns its id.
func (s *Server) AddComment(issue int, user, body string) int64 {
	m := Comment{Issue: issue, User: user, Body: body}
	s.edit(func(st *State) {
		s.fillID(&m.ID)
		st.Comments = append(st.Comments, m)
	})
	return m.ID
}

// DeleteComment deletes a comment behind the client's back.
func (s *Server) DeleteComment(id int64) {
	s.edit(func(st *State) {
		st.Comments = slices.DeleteFunc(st.Comments, func(m Comment) bool { return m.ID == id })
	})
}

// EditIssue changes a conversation: lock it, say that it is gone.
func (s *Server) EditIssue(number int, f func(*Issue)) {
	s.edit(func(st *State) {
		if i := st.issue(number); i != nil {
			f(i)
		}
	})
}

// Label gives an issue a label, with the event that says who did it.
func (s *Server) Label(number int, label, actor string) {
	s.label(number, label, actor, "labeled")
}

// Unlabel takes a label away, with its event.
func (s *Server) Unlabel(number int, label, actor string) {
	s.label(number, label, actor, "unlabeled")
}

func (s *Server) label(number int, label, actor, event string) {
	s.edit(func(st *State) {
		i := st.issue(number)
		if i == nil {
			return
		}
		i.Labels = slices.DeleteFunc(i.Labels, func(l string) bool { return l == label })
		if event == "labeled" {
			i.Labels = append(i.Labels, label)
		}
		i.Events = append(i.Events, Event{ID: s.nextID(), Event: event, Actor: actor, Label: label})
	})
}

// SetPermission says what somebody may in the repository: "admin", "write",
// "read", "none".
func (s *Server) SetPermission(login, level string) {
	s.edit(func(st *State) {
		if st.Collaborators == nil {
			st.Collaborators = map[string]string{}
		}
		st.Collaborators[login] = level
	})
}

// SetToken adds a token or changes what it may.
func (s *Server) SetToken(text string, t Token) {
	s.edit(func(st *State) { st.Tokens[text] = t })
}

// AddCheckRun adds a check run, another app's for example, and returns its id.
func (s *Server) AddCheckRun(r CheckRun) int64 {
	s.edit(func(st *State) {
		s.fillID(&r.ID)
		st.CheckRuns = append(st.CheckRuns, r)
	})
	return r.ID
}

// Comments are those of an issue, oldest first.
func (s *Server) Comments(issue int) []Comment {
	return slices.DeleteFunc(s.State().Comments, func(m Comment) bool { return m.Issue != issue })
}

// CheckRuns are all check runs, oldest first.
func (s *Server) CheckRuns() []CheckRun { return s.State().CheckRuns }

// Statuses are all commit statuses, oldest first.
func (s *Server) Statuses() []Status { return s.State().Statuses }

// Artifacts are all artifacts, those of the folder included, oldest first.
func (s *Server) Artifacts() []Artifact {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.artifacts()
}
