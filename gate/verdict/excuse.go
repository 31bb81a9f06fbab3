package verdict

import (
	"time"

	"github.com/perfweir/perfweir/gate/budget"
)

// Kinds of an excuse.
const (
	ExcuseAccepted   = "accepted"
	ExcuseQuarantine = "quarantine"
)

// Excuse is an entry of accepted or quarantine that findings are about.
type Excuse struct {
	Kind string `json:"kind"`
	budget.Exception
	// Expired is set where the entry counts no more: its findings are not excused.
	Expired bool `json:"expired,omitempty"`
}

// AcceptedBy is who let what a change loosens count at once, by a label on its
// pull request.
type AcceptedBy struct {
	Login string    `json:"login"`
	Label string    `json:"label"`
	At    time.Time `json:"at"`
}

// ExcuseOf is the entry that a finding is about; nil: none.
func (d *Document) ExcuseOf(f *Finding) *Excuse {
	if f.Excuse == nil || !inside(*f.Excuse, len(d.Excuses)) {
		return nil
	}
	return &d.Excuses[*f.Excuse]
}
