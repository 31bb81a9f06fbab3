package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// checker writes one check run.
type checker struct {
	p         *publication
	run       CheckRun                               // as it is to be
	texts     func(bytes int) (summary, text string) // nil: they are short
	completed bool
}

func (p *publication) checker() *checker {
	return &checker{p: p, run: CheckRun{
		ID: p.o.CheckRun, Name: CheckName(p.o.Suite), HeadSHA: p.t.SHA,
		ExternalID: ExternalIDOf(p.t, p.o.Suite).String(), DetailsURL: p.t.RunURL, StartedAt: p.o.Now,
	}}
}

func (k *checker) failed(err error) Channel {
	return Channel{Name: ChannelCheck, State: Failed, Why: why(err)}
}

func (k *checker) told(s State) Channel {
	return Channel{Name: ChannelCheck, State: s, URL: k.run.URL, ID: k.run.ID}
}

// find looks for the check run that an earlier step started, where its id was not
// handed on, and returns what GitHub has of it.
func (k *checker) find(ctx context.Context) (CheckRun, error) {
	if k.run.ID != 0 {
		return CheckRun{ID: k.run.ID, Status: statusInProgress}, nil
	}
	for c, err := range k.p.gh.CheckRuns(ctx, k.p.t.SHA, k.run.Name) {
		if errors.Is(err, fs.ErrNotExist) {
			break // no check runs on this server: writing one says so
		}
		if err != nil {
			return CheckRun{}, fmt.Errorf("list the check runs: %w", err)
		}
		if sameAttempt(c, k.p.t, k.p.o.Suite) {
			k.adopt(c)
			return c, nil
		}
	}
	return CheckRun{}, nil
}

// adopt takes what GitHub knows of the check run.
func (k *checker) adopt(c CheckRun) { k.run.ID, k.run.URL = c.ID, c.URL }

// mostBatch is the most annotations that GitHub takes with one request.
const mostBatch = 50

// write completes the check run with the first annotations and adds the others. It
// returns how many were sent. The check run is completed even when annotations are
// refused (C15): one that stays in progress blocks a merge for ever.
func (k *checker) write(ctx context.Context, remarks []Annotation) (sent int, err error) {
	first := remarks[:min(mostBatch, len(remarks))]
	err = k.put(ctx, first, 0)
	if err != nil && len(first) > 0 && !over(ctx, err) && !errors.Is(err, fs.ErrNotExist) {
		// Perhaps a single annotation is what it does not like.
		if bare := k.put(ctx, nil, 0); bare != nil {
			return 0, bare
		}
		k.completed = true
		return 0, err
	}
	if err != nil {
		return 0, err
	}
	k.completed = true
	for sent = len(first); sent < len(remarks); {
		batch := remarks[sent:min(sent+mostBatch, len(remarks))]
		if err := k.put(ctx, batch, sent); err != nil {
			return sent, err
		}
		sent += len(batch)
	}
	return sent, nil
}

// put writes the check run with a batch of annotations; so many are there already.
func (k *checker) put(ctx context.Context, batch []Annotation, there int) error {
	err := k.once(ctx, batch, there)
	if errors.Is(err, ErrTooLong) && k.texts != nil {
		k.run.Summary, k.run.Text = k.texts(summaryAgain)
		err = k.once(ctx, batch, there)
	}
	return err
}

func (k *checker) once(ctx context.Context, batch []Annotation, there int) error {
	if k.run.ID == 0 {
		return k.create(ctx, batch)
	}
	err := k.update(ctx, batch, there)
	if errors.Is(err, fs.ErrNotExist) && !k.completed {
		k.run.ID = 0 // it is gone: nobody would see what is written into it
		return k.create(ctx, batch)
	}
	return err
}

// create makes a new check run. Without an answer it may be there: it is looked
// for before another is made.
func (k *checker) create(ctx context.Context, batch []Annotation) error {
	c, err := k.p.gh.CreateCheckRun(ctx, k.run, batch)
	if errors.Is(err, ErrUnsure) && ctx.Err() == nil {
		found, lookErr := k.find(ctx)
		switch {
		case lookErr != nil:
			return lookErr
		case found.ID != 0:
			return nil
		}
		c, err = k.p.gh.CreateCheckRun(ctx, k.run, batch)
	}
	if err != nil {
		return fmt.Errorf("create the check run: %w", err)
	}
	k.adopt(c)
	return nil
}

// update writes the check run and appends annotations. Without an answer, what is
// there is read before anything is sent again: GitHub would append them twice.
func (k *checker) update(ctx context.Context, batch []Annotation, there int) error {
	c, err := k.p.gh.UpdateCheckRun(ctx, k.run, batch)
	if errors.Is(err, ErrUnsure) && ctx.Err() == nil {
		now, lookErr := k.p.gh.CheckRun(ctx, k.run.ID)
		switch {
		case lookErr != nil:
			return fmt.Errorf("no answer, and whether it was carried out could not be asked: %w", lookErr)
		case now.Status == k.run.Status && now.Conclusion == k.run.Conclusion && now.Annotations >= there+len(batch):
			k.adopt(now)
			return nil
		case now.Annotations > there:
			batch = nil // some are there: none is sent twice
		}
		c, err = k.p.gh.UpdateCheckRun(ctx, k.run, batch)
	}
	if err != nil {
		return fmt.Errorf("complete the check run: %w", err)
	}
	k.adopt(c)
	return nil
}
