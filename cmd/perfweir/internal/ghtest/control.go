package ghtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// controlPath begins the paths by which the stand is told what to do. They are
// not GitHub's, need no token and are not logged:
//
//	GET  /_stand/state       the State
//	PUT  /_stand/state       a whole new State
//	GET  /_stand/violations  list of Violation
//	GET  /_stand/requests    list of Request
//	POST /_stand/faults      a Fault, with "retry_after_s" in seconds
//	DELETE /_stand/faults    no faults any more
//	POST /_stand/artifacts?run_id=N&name=NAME  the body becomes an artifact of the run; 409 when
//	                         it has one of that name
const controlPath = "/_stand/"

func (s *Server) control(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	switch what := r.Method + " " + strings.TrimPrefix(r.URL.Path, controlPath); what {
	case "GET state":
		writeJSON(w, s.State())
	case "PUT state":
		st, err := ParseState(body)
		if err == nil {
			err = s.Replace(st)
		}
		done(w, err)
	case "GET violations":
		writeJSON(w, s.Violations())
	case "GET requests":
		writeJSON(w, s.Requests())
	case "POST faults":
		done(w, s.controlFault(body))
	case "DELETE faults":
		s.Heal()
		done(w, nil)
	case "POST artifacts":
		done(w, s.upload(r.URL.Query().Get("run_id"), r.URL.Query().Get("name"), body))
	default:
		http.Error(w, "the stand has no "+what, http.StatusNotFound)
	}
}

// ParseState reads a state file. Keys that it does not know are errors.
func ParseState(b []byte) (State, error) {
	var st State
	return st, strict(b, &st)
}

func strict(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.More() {
		return errors.New("there is text after the JSON")
	}
	return nil
}

func (s *Server) controlFault(body []byte) error {
	var f struct {
		Fault
		RetryAfterS int `json:"retry_after_s"`
	}
	if err := strict(body, &f); err != nil {
		return err
	}
	f.RetryAfter = time.Duration(f.RetryAfterS) * time.Second
	return s.addFault(f.Fault)
}

func (s *Server) upload(run, name string, body []byte) error {
	id, err := strconv.ParseInt(run, 10, 64)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.run(id) == nil {
		return errors.New("there is no workflow run " + run)
	}
	for _, a := range s.artifacts() {
		if a.RunID == id && a.Name == name {
			return ErrConflict
		}
	}
	a := Artifact{ID: s.nextID(), RunID: id, Name: name, Zip: body}
	a.fill(s.now())
	s.state.Artifacts = append(s.state.Artifacts, a)
	return nil
}

func done(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, ErrConflict):
		http.Error(w, err.Error(), http.StatusConflict)
	case err != nil:
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", jsonType)
	_, _ = w.Write(append(encode(v), '\n')) // a client that went away is its own matter
}
