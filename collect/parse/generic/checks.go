package generic

import (
	"fmt"

	"github.com/perfweir/perfweir/collect/result"
)

// Checks reads a JSON object of named booleans: correctness that a program tested
// while it ran. Each becomes the metric check with its name as part, 1 or 0. A
// value that is no boolean is an error with its byte offset. An object without
// names is a check that never ran: absent, with a warning, and not a pass.
func Checks(raw []byte) (Reading, error) {
	s := &scanner{data: raw}
	var out Reading
	if err := s.checks("checks", &out); err != nil {
		return Reading{}, fmt.Errorf("read checks: %w", err)
	}
	if err := s.end(); err != nil {
		return Reading{}, fmt.Errorf("read checks: %w", err)
	}
	return out, nil
}

func (s *scanner) checks(path string, out *Reading) error {
	before := len(out.Measurements)
	err := s.object(path, func(name string) error {
		if name == "" {
			return failAt(s.pos, "%s: a check has no name", path)
		}
		ok, err := s.boolean(join(path, name))
		if err != nil {
			return err
		}
		v := 0.0
		if ok {
			v = 1
		}
		out.add(Present(result.Check, name, v, checkDef()))
		return nil
	})
	if err == nil && len(out.Measurements) == before {
		out.warn("%s: no check ran", path)
		out.add(Missing(result.Check, "", result.AbsentNotReported, checkDef()))
	}
	return err
}
