package flow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"time"

	"github.com/perfweir/perfweir/cmd/perfweir/internal/config"
	"github.com/perfweir/perfweir/cmd/perfweir/internal/durable"
	"github.com/perfweir/perfweir/collect"
	"github.com/perfweir/perfweir/collect/launch"
	"github.com/perfweir/perfweir/collect/measure"
	"github.com/perfweir/perfweir/collect/plan"
	"github.com/perfweir/perfweir/collect/prepare"
	"github.com/perfweir/perfweir/collect/result"
)

// alone calls do while no other perfweir measures on this machine, as the suite
// says. Builds and reports disturb too, but a lock that is held through them
// would make others wait for a person's compiler.
func (s Shell) alone(ctx context.Context, su *suite, do func() (*result.Document, error)) (*result.Document, error) {
	if su.file.Exclusive != config.ExclusiveMachine {
		return do()
	}
	dir, err := durable.MachineFolder(value(s.Environ, durable.MachineFolderVariable))
	if err != nil {
		return nil, noLock(err)
	}
	lock, err := durable.AcquireMachine(ctx, dir, durable.Claimant{User: userName(), Suite: su.file.Suite.Name, Since: s.Now()}, s.sayBusy)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, noLock(err)
	case lock == nil:
		s.say("another perfweir measures this one: its hold on the machine is enough")
		return do()
	}
	doc, err := do()
	if rerr := lock.Release(); rerr != nil {
		err = errors.Join(err, fmt.Errorf("release the machine's lock: %w", rerr))
	}
	return doc, err
}

func noLock(err error) error {
	return fmt.Errorf("%w: two runs at once would disturb each other; mend it, or write `exclusive: none` in the suite file where nothing else measures", err)
}

func (s Shell) sayBusy(holder string, waited time.Duration) {
	if waited < time.Second {
		s.say("waiting: another perfweir measures on this machine: %s", holder)
		return
	}
	s.say("still waiting after %v: %s", waited.Round(time.Second), holder)
}

func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return strconv.Itoa(os.Getuid())
}

// onThisMachine measures runs of one session: what the machine was like when it
// began is known to all of them.
func onThisMachine(l *launch.Launcher) collect.Measure {
	machine := prepare.New("/")
	return func(ctx context.Context, r measure.Run) measure.Outcome {
		r.Machine, r.Launcher = machine, l
		return measure.Do(ctx, r)
	}
}

// noted keeps that something was run.
func (m *matrix) noted(do collect.Measure) collect.Measure {
	return func(ctx context.Context, r measure.Run) measure.Outcome {
		m.ran = true
		return do(ctx, r)
	}
}

// edited measures cells as edit makes them; nil leaves them as planned.
func edited(edit func(plan.Cell) plan.Cell, do collect.Measure) collect.Measure {
	if edit == nil {
		return do
	}
	return func(ctx context.Context, r measure.Run) measure.Outcome {
		c := edit(*r.Cell)
		r.Cell = &c
		return do(ctx, r)
	}
}
