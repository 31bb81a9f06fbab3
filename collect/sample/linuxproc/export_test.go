package linuxproc

import "time"

// SetClock makes the source tell the time by now.
func (s *Source) SetClock(now func() time.Time) { s.now = now }

// MostFiles is how many files a run keeps open.
const MostFiles = mostFiles
