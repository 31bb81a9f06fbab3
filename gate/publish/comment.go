package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/gate/report"
)

// comment keeps one comment on the pull request.
func (p *publication) comment(ctx context.Context) {
	c := Channel{Name: ChannelComment, State: Skipped}
	switch {
	case p.o.Comment == CommentNever:
		c.Why = "comment: never"
	case p.t.Pull == 0:
		c.Why = "there is no pull request"
	default:
		s := p.sticky()
		c = s.publish(ctx)
		p.resolved = s.resolved
	}
	p.add(c)
}

// sticky is the one comment of a key on one pull request.
//
// GitHub has no conditional writes, so two jobs can overwrite each other. What
// holds all the same: of several comments of a key the one with the lowest id
// stays, the others are merged into it and deleted. Every job that sees two of them
// agrees on that without asking, and nobody ever deletes the one that stays, so
// nobody writes into a comment that is going away. After a create, and after an
// update of a comment that several suites share, it is read again, until what is
// there holds our section.
type sticky struct {
	p        *publication
	key      string
	login    string
	limit    int
	wrote    Channel // the last write
	unsure   bool    // a create had no answer
	created  []Comment
	gone     map[int64]bool // comments that were deleted under us
	resolved bool
	notes    []string
}

// Most times that a comment is read for one publication: a first look, and others
// that heal what a race or a deletion left.
const mostLooks = 4

func (p *publication) sticky() *sticky {
	key := p.o.Group
	if key == "" {
		key = p.o.Suite
	}
	return &sticky{p: p, key: key, limit: commentBytes, gone: map[int64]bool{}}
}

func (s *sticky) publish(ctx context.Context) Channel {
	login, err := s.p.gh.Login(ctx)
	if err != nil {
		return s.failed("as whom does this token write: ", err)
	}
	s.login = login
	for range mostLooks {
		found, err := s.find(ctx)
		if err != nil {
			return s.failed("", err)
		}
		done, err := s.look(ctx, found)
		if err != nil {
			return s.failed("", err)
		}
		if done {
			return s.told()
		}
	}
	switch {
	case s.wrote.State == "" && s.unsure:
		return s.failed("post the comment: ", ErrUnsure)
	case s.wrote.State == "":
		return Channel{Name: ChannelComment, State: Failed, Why: "the comment was deleted whenever it was written"}
	}
	s.notes = append(s.notes, "other jobs wrote at the same time: publish again if it is not complete")
	return s.told()
}

// told is the channel after its last write.
func (s *sticky) told() Channel {
	c := s.wrote
	c.Name = ChannelComment
	if len(s.notes) > 0 {
		if c.Why != "" {
			c.Why += "; "
		}
		c.Why += strings.Join(s.notes, "; ")
	}
	return c
}

func (s *sticky) failed(doing string, err error) Channel {
	if s.wrote.State == Posted || s.wrote.State == Updated {
		// It is told; only the second look failed.
		s.notes = append(s.notes, "not looked at again: "+why(err))
		return s.told()
	}
	text := doing + why(err)
	if errors.Is(err, fs.ErrNotExist) {
		text = "the pull request takes no comment: " + text
	}
	return Channel{Name: ChannelComment, State: Failed, Why: text}
}

// find returns our comments, the one that stays first. A listing may lag behind
// what was written a moment ago.
func (s *sticky) find(ctx context.Context) ([]Comment, error) {
	var ours []Comment
	for c, err := range s.p.gh.Comments(ctx, s.p.t.Pull) {
		if err != nil {
			return nil, fmt.Errorf("list the comments: %w", err)
		}
		// Anyone can paste a marker, so the author counts.
		if c.Author == s.login && mine(c.Body, s.key) {
			ours = append(ours, c)
		}
	}
	for _, c := range s.created {
		if !slices.ContainsFunc(ours, func(x Comment) bool { return x.ID == c.ID }) {
			ours = append(ours, c)
		}
	}
	ours = slices.DeleteFunc(ours, func(c Comment) bool { return s.gone[c.ID] })
	slices.SortFunc(ours, func(a, b Comment) int { return cmp.Compare(a.ID, b.ID) })
	return ours, nil
}

// look does what one reading of the comments asks for. It is done when nothing has
// to be read again.
func (s *sticky) look(ctx context.Context, ours []Comment) (done bool, err error) {
	var all []section
	for _, c := range ours {
		all = append(all, parseBody(c.Body)...)
	}
	all = newest(all)
	own, hold := s.plan(all)
	if hold.State != "" && (len(ours) <= 1 || len(all) == 0) {
		s.stand(hold, ours)
		return true, nil
	}
	body := func() string { return s.body(all, own, hold.State != "") }
	if len(ours) == 0 {
		return false, s.create(ctx, body)
	}
	if same(ours[0].Body, body()) {
		s.stand(Channel{State: Unchanged}, ours)
		done = true
	} else {
		if err := s.update(ctx, ours[0], body); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				s.gone[ours[0].ID] = true
				return false, nil // the next look creates it anew
			}
			return false, err
		}
		done = !s.shared(all, own)
	}
	s.drop(ctx, ours[1:])
	if hold.State != "" {
		s.wrote.Why = hold.Why
	}
	return done, nil
}

// shared reports whether other suites write into the comment, too.
func (s *sticky) shared(all []section, own marker) bool {
	return s.p.o.Group != "" || slices.ContainsFunc(all, func(x section) bool { return x.suite != own.suite })
}

// stand leaves the comment as it is; what was written before counts.
func (s *sticky) stand(c Channel, ours []Comment) {
	if s.wrote.State != "" {
		return
	}
	s.wrote = c
	if len(ours) > 0 {
		s.wrote.URL, s.wrote.ID = ours[0].URL, ours[0].ID
		if s.unsure {
			s.wrote.State = Posted
		}
	}
}

// plan decides what our section is to say, and whether it is held back.
func (s *sticky) plan(all []section) (own marker, hold Channel) {
	p := s.p
	own = marker{suite: tokenOf(p.o.Suite), run: p.t.Run, head: p.t.SHA, outcome: p.r.Outcome(), rows: p.r.rowsDigest()}
	passes, red := false, false
	switch p.conclusion() {
	case conclusionSuccess:
		passes = true
	case conclusionFailure:
		red = true
	}
	if own.outcome.Red() && p.o.FailOn == FailOnNever {
		red = true // it stops nothing, but it is what was told
	}
	own.open = red
	at := slices.IndexFunc(all, func(x section) bool { return x.suite == own.suite })
	if at >= 0 {
		prev := all[at].marker
		own.resolved = passes && (prev.open || prev.resolved && prev.head == own.head)
		own.open = red || prev.open && !passes
		if compareRuns(prev.run, own.run) > 0 {
			return prev, Channel{State: Skipped, Why: fmt.Sprintf("the comment tells of workflow run %d, which is newer", prev.run.Number)}
		}
		if p.o.Comment == CommentOnChange && prev.outcome == own.outcome && prev.rows == own.rows {
			s.resolved = own.resolved
			return prev, Channel{State: Unchanged, Why: "the outcome and the broken rows are those that are told already"}
		}
	}
	s.resolved = own.resolved
	if p.o.Comment == CommentOnFailure && at < 0 && !red {
		return own, Channel{State: Skipped, Why: "nothing is red (comment: on-failure)"}
	}
	return own, Channel{}
}

// body is the whole comment. Where our section is held back, all stay as they are.
func (s *sticky) body(all []section, own marker, held bool) string {
	if held {
		return write(s.key, fit(all, s.limit))
	}
	told := s.p.told()
	told.Resolved = own.resolved
	return compose(s.key, all, own, func(bytes int) string { return s.p.markdown(told, report.Options{Bytes: bytes}) }, s.limit)
}

// same reports whether two bodies say the same: GitHub may end lines its own way.
func same(a, b string) bool {
	lines := func(s string) string { return trimmed(strings.ReplaceAll(s, "\r\n", "\n")) }
	return lines(a) == lines(b)
}
