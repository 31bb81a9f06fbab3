// Package exhibit owns the exhibits document (perfweir.exhibits/v1): what a page
// draws and a decision does not need. It is bounded, so a page stays readable
// however large the matrix is; what was left out is counted.
package exhibit

// Schema is the tag of the document.
const Schema = "perfweir.exhibits/v1"

// Document is a whole exhibits document.
type Document struct {
	Schema  string  `json:"schema"`
	Suite   string  `json:"suite"`
	Strips  []Strip `json:"strips"`            // worst findings first
	Omitted int     `json:"omitted,omitempty"` // strips left out for size
}

// Strip is the raw values of one cell's metric on both sides.
type Strip struct {
	Cell      string   `json:"cell"`
	Metric    string   `json:"metric"`
	Phase     string   `json:"phase,omitempty"`
	Part      string   `json:"part,omitempty"`
	Unit      string   `json:"unit"`
	Current   Series   `json:"current"`
	Reference []Series `json:"reference,omitempty"`
}

// Series is the clean runs of one session (or variant), in the order they ran.
type Series struct {
	Label  string    `json:"label"` // session id, or "variant:NAME"
	Block  []int     `json:"block"`
	Values []float64 `json:"values"`
}
