package result

import "maps"

// BuildName is the printed name of a cell on a build: that of the head build is
// the cell's own, that of another one says which.
func BuildName(name, build string) string {
	if build == "" || build == BuildHead {
		return name
	}
	return name + "@" + build
}

// HeadOnly is a document without what was measured of other builds: it is what a
// later session is compared with. A document that has nothing else is returned as
// it is.
func HeadOnly(d *Document) *Document {
	if _, paired := d.Builds[BuildBase]; !paired {
		return d
	}
	out := &Document{Header: d.Header}
	out.Builds = maps.Clone(d.Builds)
	delete(out.Builds, BuildBase)
	out.Plan.Runs = 0
	out.Skipped, out.Dealt = nil, nil
	for _, s := range d.Skipped {
		if s.Build == "" {
			out.Skipped = append(out.Skipped, s)
		}
	}
	for i := range d.Dealt {
		if d.Dealt[i].Build != BuildBase {
			out.Dealt = append(out.Dealt, d.Dealt[i])
		}
	}
	for i := range d.Cells {
		if c := &d.Cells[i]; c.Build != BuildBase {
			out.Cells = append(out.Cells, *c)
			out.Plan.Runs += c.Planned
		}
	}
	out.Plan.Cells = len(out.Cells)
	return out
}
