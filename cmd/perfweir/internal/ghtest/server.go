package ghtest

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// ErrConflict says that a workflow run has an artifact of that name already:
// GitHub answers 409.
var ErrConflict = errors.New("(409) Conflict: an artifact with this name already exists on the workflow run")

// Options says how a server is made. The zero value is good.
type Options struct {
	API, Blob string // addresses; zero: a free port of the loopback
	BasePath  string // "/api/v3" as on GitHub Enterprise Server
	State     State
	// Artifacts is a folder that act's artifact server fills, DIR/RUNID/NAME/NAME.zip,
	// read anew for every request. Artifacts of a run are listed once the state has
	// the run.
	Artifacts string
	Now       func() time.Time // zero: the machine's clock
	Log       io.Writer        // one JSON line a request; zero: none
	Control   bool             // serve /_stand/ on the API listener
}

// Request is one request as it was answered.
type Request struct {
	Time          time.Time `json:"time"`
	Host          string    `json:"host"` // "api" or "blob"
	Method        string    `json:"method"`
	Path          string    `json:"path"` // without the base path, as it was asked for
	Query         string    `json:"query,omitempty"`
	Status        int       `json:"status"` // 0: no answer was sent
	Authenticated bool      `json:"authenticated"`
	Fault         Kind      `json:"fault,omitempty"`
}

const (
	apiHost  = "api"
	blobHost = "blob"
)

// Server is a running fake. Its methods may be called from any goroutine, also
// from a hook given to Before.
type Server struct {
	options   Options
	desc      *description
	endpoints []endpoint
	fatal     func(format string, args ...any)
	api, blob listening
	secret    []byte // signs links to the blob host
	closed    chan struct{}
	close     sync.Once

	mu         sync.Mutex
	state      State
	offset     time.Duration // how far Advance has moved the clock
	lastID     int64
	folder     map[string]folderArtifact
	templates  map[string]any // examples by name, of this state's repository
	faults     []*Fault
	hooks      []func(*http.Request)
	violations []Violation
	requests   []Request
}

type listening struct {
	address string
	server  *http.Server
}

// T is what New needs of a *testing.T.
type T interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// epoch is where the clock of New stands until it is advanced.
var epoch = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// New starts a server for one test, with a clock that stands still until Advance,
// and stops it after. A violation that is left then fails the test.
func New(t T, change ...func(*Options)) *Server {
	t.Helper()
	o := Options{Now: func() time.Time { return epoch }}
	for _, f := range change {
		f(&o)
	}
	s, err := Start(o)
	if err != nil {
		t.Fatalf("ghtest: %v", err)
	}
	s.fatal = t.Fatalf
	t.Cleanup(func() {
		s.Close()
		for _, v := range s.Violations() {
			t.Errorf("ghtest: %v", v)
		}
	})
	return s
}

// Start starts a server. Close stops it.
func Start(o Options) (*Server, error) {
	desc, err := loadDescription()
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Server{options: o, desc: desc, endpoints: endpoints(), closed: make(chan struct{}), secret: make([]byte, 32),
		folder: map[string]folderArtifact{}}
	s.fatal = func(format string, args ...any) { panic("ghtest: " + fmt.Sprintf(format, args...)) }
	rand.Read(s.secret)
	if err := s.Replace(o.State); err != nil {
		return nil, err
	}
	if s.api, err = listen(o.API, s.serveAPI); err != nil {
		return nil, err
	}
	if s.blob, err = listen(o.Blob, s.serveBlob); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func listen(address string, serve http.HandlerFunc) (listening, error) {
	l, err := net.Listen("tcp", or(address, "127.0.0.1:0"))
	if err != nil {
		return listening{}, err
	}
	server := &http.Server{Handler: serve, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }() // ends with Close
	return listening{l.Addr().String(), server}, nil
}

// Close stops both listeners and lets go of requests that are held.
func (s *Server) Close() {
	s.close.Do(func() {
		close(s.closed)
		for _, l := range []listening{s.api, s.blob} {
			if l.server != nil {
				_ = l.server.Close()
			}
		}
	})
}

// URL is the address of the API without a slash at its end: GITHUB_API_URL.
func (s *Server) URL() string { return "http://" + s.api.address + s.options.BasePath }

// BlobURL is the address of the blob host.
func (s *Server) BlobURL() string { return "http://" + s.blob.address }

// Now is the server's time.
func (s *Server) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now()
}

func (s *Server) now() time.Time { return s.options.Now().Add(s.offset) }

// Advance moves the server's clock.
func (s *Server) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offset += d
}

// Before calls f before each request to the API is carried out, without any lock
// held: f may change the server, so that a test can race with its client.
func (s *Server) Before(f func(*http.Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks = append(s.hooks, f)
}

// Replace sets the whole state.
func (s *Server) Replace(st State) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	copied, err := clone(st)
	if err != nil {
		return err
	}
	if err := copied.normalise(s.now()); err != nil {
		return err
	}
	s.state, s.templates = copied, map[string]any{}
	s.lastID = max(s.lastID, copied.highestID())
	return nil
}

// State is a copy of the whole state. Artifacts of the folder are not in it.
func (s *Server) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	copied, err := clone(s.state)
	if err != nil {
		s.fatal("copy of the state: %v", err)
	}
	return copied
}

// clone goes through JSON: what a state file cannot hold is not state.
func clone(st State) (out State, err error) {
	b, err := json.Marshal(st)
	if err != nil {
		return State{}, err
	}
	return out, json.Unmarshal(b, &out)
}

func (s *State) highestID() int64 {
	highest := int64(1000)
	for _, a := range s.Artifacts {
		highest = max(highest, a.ID)
	}
	for _, r := range s.Runs {
		highest = max(highest, r.ID)
	}
	for _, c := range s.Comments {
		highest = max(highest, c.ID)
	}
	for _, c := range s.CheckRuns {
		highest = max(highest, c.ID)
	}
	for _, c := range s.Statuses {
		highest = max(highest, c.ID)
	}
	return highest
}

func (s *Server) nextID() int64 {
	s.lastID++
	return s.lastID
}

// Violations are the rules that were broken so far.
func (s *Server) Violations() []Violation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.violations)
}

// TakeViolations is Violations and forgets them: for tests that expect some.
func (s *Server) TakeViolations() []Violation {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.violations
	s.violations = nil
	return taken
}

// Requests are all requests so far, to both hosts, in the order of their answers.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *Server) violate(r *http.Request, rule, format string, args ...any) {
	s.violations = append(s.violations, Violation{r.Method, r.URL.Path, rule + fmt.Sprintf(format, args...)})
}

func (s *Server) record(host string, r *http.Request, status int, f *Fault) {
	entry := Request{Time: s.now().UTC(), Host: host, Method: r.Method, Path: strings.TrimPrefix(r.URL.Path, s.options.BasePath),
		Query: r.URL.RawQuery, Status: status, Authenticated: r.Header.Get("Authorization") != ""}
	if f != nil {
		entry.Fault = f.Kind
		if f.Kind == NoAnswer {
			entry.Status = 0
		}
	}
	s.requests = append(s.requests, entry)
	if s.options.Log != nil {
		_, _ = s.options.Log.Write(append(encode(entry), '\n')) // a log that fails does not change what clients see
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
