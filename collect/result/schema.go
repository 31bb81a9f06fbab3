package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxWhole is the most bytes that a document which is read as a whole may have:
// a verdict of 50,000 findings has 30 MB.
const maxWhole = 512 << 20

// CheckSchema holds the schema tag of a document against the one that this
// version reads, "perfweir.results/v1". A newer major version is refused with the
// advice to update; every other difference means that it is another document.
// All documents of perfweir use this one rule.
func CheckSchema(tag, want string) error {
	if tag == want {
		return nil
	}
	stem, major := splitSchema(want)
	if gotStem, got := splitSchema(tag); gotStem == stem && got > major {
		return fmt.Errorf("%s is newer than this version reads (v%d): use a newer perfweir", tag, major)
	}
	kind := strings.TrimPrefix(stem, "perfweir.")
	return fmt.Errorf("not a perfweir %s document (schema %q)", kind, shorten(tag))
}

// splitSchema cuts "perfweir.results/v1" into its stem and its major version; a
// tag of another form has version -1.
func splitSchema(tag string) (stem string, major int) {
	stem, version, ok := strings.Cut(tag, "/v")
	n, err := strconv.Atoi(version)
	if !ok || err != nil || n < 1 || strconv.Itoa(n) != version {
		return tag, -1
	}
	return stem, n
}

// shorten bounds what a message repeats of a foreign text.
func shorten(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

// Lines is an array of a document that is written with one element a line, so
// that a difference of two documents shows the elements that differ.
type Lines struct {
	Key string
	Len int
	At  func(i int) any
}

// WriteDocument writes head, which marshals to a JSON object that is not empty,
// and adds the arrays as its last keys. The same values give the same bytes. A
// number that is NaN or infinite is an error: it never passes into a document.
func WriteDocument(w io.Writer, head any, arrays ...Lines) error {
	const flushAt = 64 << 10
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // a document is not HTML; reports escape for their own format
	if err := enc.Encode(head); err != nil {
		return err
	}
	buf.Truncate(buf.Len() - len("}\n"))
	for _, a := range arrays {
		buf.WriteString(",\n" + strconv.Quote(a.Key) + ":[")
		for i := range a.Len {
			if i > 0 {
				buf.WriteByte(',')
			}
			buf.WriteByte('\n')
			if err := enc.Encode(a.At(i)); err != nil {
				return fmt.Errorf("%s %d: %w", a.Key, i, err)
			}
			buf.Truncate(buf.Len() - len("\n"))
			if buf.Len() > flushAt {
				if _, err := buf.WriteTo(w); err != nil {
					return err
				}
			}
		}
		buf.WriteByte(']')
	}
	buf.WriteString("}\n")
	_, err := buf.WriteTo(w)
	return err
}

// ReadDocument reads a whole document into doc, a pointer to a struct, after its
// schema tag was found to be want. Unknown keys are skipped.
func ReadDocument(r io.Reader, want string, doc any) error {
	data, err := io.ReadAll(io.LimitReader(r, maxWhole+1))
	if err != nil {
		return err
	}
	if len(data) > maxWhole {
		return fmt.Errorf("document is larger than %d MiB", maxWhole>>20)
	}
	tag, err := schemaOf(data)
	if err != nil {
		return fmt.Errorf("%w: %w", CheckSchema("", want), err)
	}
	if err := CheckSchema(tag, want); err != nil {
		return err
	}
	return json.Unmarshal(data, doc)
}

// schemaOf finds the schema tag of a JSON object: the first key of what we
// write, so that little of a foreign document is read.
func schemaOf(data []byte) (string, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return "", fmt.Errorf("not a JSON object")
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return "", err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return "", err
		}
		if key == "schema" {
			var tag string
			err := json.Unmarshal(value, &tag)
			return tag, err
		}
	}
	return "", nil
}
