package exhibit

import (
	"fmt"
	"io"

	"github.com/perfweir/perfweir/collect/result"
)

// Encode writes an exhibits document, one strip a line; the same document gives
// the same bytes. A value that is NaN or infinite is an error: what is drawn was
// measured.
func Encode(w io.Writer, d *Document) error {
	out := *d
	if out.Schema == "" {
		out.Schema = Schema
	}
	if err := result.CheckSchema(out.Schema, Schema); err != nil {
		return err
	}
	if err := check(d); err != nil {
		return fmt.Errorf("encode exhibits: %w", err)
	}
	head := struct {
		*Document
		Strips *struct{} `json:"strips,omitempty"` // written line by line
	}{Document: &out}
	err := result.WriteDocument(w, head,
		result.Lines{Key: "strips", Len: len(d.Strips), At: func(i int) any { return &d.Strips[i] }})
	if err != nil {
		return fmt.Errorf("encode exhibits: %w", err)
	}
	return nil
}

// Decode reads an exhibits document. A document of another kind or of a newer
// version is refused in words.
func Decode(r io.Reader) (*Document, error) {
	d := new(Document)
	err := result.ReadDocument(r, Schema, d)
	if err == nil {
		err = check(d)
	}
	if err != nil {
		return nil, fmt.Errorf("read exhibits: %w", err)
	}
	return d, nil
}

func check(d *Document) error {
	for i := range d.Strips {
		s := &d.Strips[i]
		if err := checkSeries(&s.Current); err != nil {
			return fmt.Errorf("strip %d: current: %w", i, err)
		}
		for j := range s.Reference {
			if err := checkSeries(&s.Reference[j]); err != nil {
				return fmt.Errorf("strip %d: reference %d: %w", i, j, err)
			}
		}
	}
	return nil
}

func checkSeries(s *Series) error {
	if len(s.Block) != len(s.Values) {
		return fmt.Errorf("%d blocks, %d values", len(s.Block), len(s.Values))
	}
	return nil
}
