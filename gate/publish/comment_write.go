package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// create posts a new comment. Without an answer it may be there: the next look
// finds it, or creates it again.
func (s *sticky) create(ctx context.Context, body func() string) error {
	text := body()
	c, err := s.p.gh.CreateComment(ctx, s.p.t.Pull, text)
	if errors.Is(err, ErrTooLong) && s.limit != commentAgain {
		s.limit = commentAgain
		text = body()
		c, err = s.p.gh.CreateComment(ctx, s.p.t.Pull, text)
	}
	switch {
	case errors.Is(err, ErrUnsure) && ctx.Err() == nil:
		s.unsure = true
		return nil
	case err != nil:
		return fmt.Errorf("post the comment: %w", err)
	}
	c.Body = text
	s.created = append(s.created, c)
	s.wrote = Channel{State: Posted, URL: c.URL, ID: c.ID}
	return nil
}

// update writes the comment that stays. The same text twice does no harm, so one
// without an answer is sent again.
func (s *sticky) update(ctx context.Context, at Comment, body func() string) error {
	text := body()
	c, err := s.p.gh.UpdateComment(ctx, at.ID, text)
	if errors.Is(err, ErrTooLong) && s.limit != commentAgain {
		s.limit = commentAgain
		text = body()
		c, err = s.p.gh.UpdateComment(ctx, at.ID, text)
	}
	if errors.Is(err, ErrUnsure) && ctx.Err() == nil {
		c, err = s.p.gh.UpdateComment(ctx, at.ID, text)
	}
	if err != nil {
		return fmt.Errorf("update the comment: %w", err)
	}
	state := Updated
	if s.wrote.State == Posted {
		state = Posted
	}
	s.wrote = Channel{State: state, URL: c.URL, ID: c.ID}
	return nil
}

// drop deletes comments whose sections were merged into the one that stays.
func (s *sticky) drop(ctx context.Context, others []Comment) {
	gone := 0
	var failed error
	for _, c := range others {
		err := s.p.gh.DeleteComment(ctx, c.ID)
		switch {
		case err == nil || errors.Is(err, fs.ErrNotExist):
			gone++
		default:
			failed = err
		}
	}
	if gone > 0 {
		s.notes = append(s.notes, fmt.Sprintf("%d duplicate comments were merged into it and deleted", gone))
	}
	if failed != nil {
		s.notes = append(s.notes, "a duplicate comment could not be deleted: "+why(failed))
	}
}
