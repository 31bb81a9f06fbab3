package ghtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// answer is a response before it is sent: whole, so that it can be judged, logged
// and spoilt first.
type answer struct {
	status int
	header http.Header
	body   []byte
	isRaw  bool // the body is no JSON of the description
}

const jsonType = "application/json; charset=utf-8"

// encode makes JSON as GitHub does.
func encode(value any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic("ghtest: " + err.Error()) // only our own maps come here
	}
	return bytes.TrimSpace(b.Bytes())
}

func reply(status int, value any) answer {
	return answer{status: status, header: http.Header{"Content-Type": {jsonType}}, body: encode(value)}
}

func noContent() answer { return answer{status: http.StatusNoContent, header: http.Header{}} }

// refuse is an error in GitHub's shape. docs is where GitHub explains it.
func refuse(status int, message, docs string) answer {
	return reply(status, object{"message": message, "documentation_url": docs, "status": fmt.Sprint(status)})
}

// invalid is GitHub's 422 for a field.
func invalid(resource, code, field, message, docs string) answer {
	return reply(http.StatusUnprocessableEntity, object{"message": "Validation Failed", "documentation_url": docs, "status": "422",
		"errors": []any{object{"resource": resource, "code": code, "field": field, "message": message}}})
}

const docsOfAPI = "https://docs.github.com/rest"

func notFound(docs string) answer { return refuse(http.StatusNotFound, "Not Found", docs) }

// stamp is a time as GitHub writes it.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// stampOrNull is stamp, and null for the zero time.
func stampOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return stamp(t)
}

// textOrNull is null for "".
func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// template is an example body of the description, told about this server's
// repository. It is shared: copy it before changing anything.
func (c *call) template(name string) any {
	t, ok := c.s.templates[name]
	if !ok {
		t = c.s.desc.example(name, c.s.URL(), c.state().Repository.FullName())
		c.s.templates[name] = t
	}
	return t
}

// deepCopy copies what JSON decodes to.
func deepCopy(v any) any {
	switch v := v.(type) {
	case object:
		out := make(object, len(v))
		for k, item := range v {
			out[k] = deepCopy(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = deepCopy(item)
		}
		return out
	}
	return v
}

// example is a copy of an example body of the description with fields replaced.
func (c *call) example(name string, fields object) object {
	return mergeObjects(deepCopy(c.template(name)).(object), fields)
}

// exampleItem is example for the first item of an example list, in the field of
// an envelope or, where that is "", in the list itself.
func (c *call) exampleItem(name, envelope string, fields object) object {
	whole := c.template(name)
	if envelope != "" {
		whole = whole.(object)[envelope]
	}
	return mergeObjects(deepCopy(whole.([]any)[0]).(object), fields)
}

func mergeObjects(all ...object) object {
	out := object{}
	for _, o := range all {
		for k, v := range o {
			out[k] = v
		}
	}
	return out
}

// user is an account as GitHub shows it.
func (c *call) user(login string) object {
	u := deepCopy(c.template("issue-comment-items").([]any)[0].(object)["user"]).(object)
	kind := "User"
	if strings.HasSuffix(login, "[bot]") {
		kind = "Bot"
	}
	for k, v := range u {
		if text, ok := v.(string); ok {
			u[k] = strings.ReplaceAll(text, "octocat", login)
		}
	}
	u["login"], u["id"], u["type"], u["avatar_url"] = login, userID(login), kind, "https://github.com/images/"+login
	return u
}

// userID is the same number for the same login.
func userID(login string) int {
	n := 0
	for _, r := range login {
		n = (n*31 + int(r)) % 10_000_000
	}
	return n + 1
}

// link is an address of the API about the repository.
func (c *call) link(format string, args ...any) string {
	return c.s.URL() + "/repos/" + c.s.state.Repository.FullName() + fmt.Sprintf(format, args...)
}

// page is an address for people about the repository.
func (c *call) page(format string, args ...any) string {
	return "https://github.com/" + c.s.state.Repository.FullName() + fmt.Sprintf(format, args...)
}
