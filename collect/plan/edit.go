package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// editArgs applies a variant's edits to a command line: remove, then set, then
// add. The program itself (argv[0]) is never matched; Variant.Path replaces it.
//
// set replaces the value after the flag, or the value of --flag=value, or
// appends flag and value where the flag is missing. A flag that is there twice,
// or that has no value to replace (it is last, or another flag follows), is
// refused: what was meant cannot be known.
func editArgs(argv []string, v *Variant) ([]string, error) {
	out := slices.Clone(argv[:1])
	for _, a := range argv[1:] {
		if !slices.Contains(v.Remove, a) {
			out = append(out, a)
		}
	}
	for _, fv := range v.Set {
		var err error
		if out, err = setFlag(out, fv); err != nil {
			return nil, err
		}
	}
	out = append(out, v.Add...)
	if v.Path != "" {
		out[0] = v.Path
	}
	return out, nil
}

func setFlag(argv []string, fv FlagValue) ([]string, error) {
	found := -1
	for i, a := range argv[1:] {
		if a == fv.Flag || strings.HasPrefix(a, fv.Flag+"=") {
			if found >= 0 {
				return nil, fmt.Errorf("set %q is ambiguous: the flag is there more than once; remove it and add it instead", fv.Flag)
			}
			found = i + 1
		}
	}
	switch {
	case found < 0:
		return append(argv, fv.Flag, fv.Value), nil
	case argv[found] != fv.Flag:
		argv[found] = fv.Flag + "=" + fv.Value
		return argv, nil
	case found+1 == len(argv):
		return nil, fmt.Errorf("set %q is ambiguous: the flag is last and has no value to replace; remove it and add it with its value", fv.Flag)
	case looksLikeFlag(argv[found+1]):
		return nil, fmt.Errorf("set %q is ambiguous: %q follows it, which looks like another flag; remove it and add it with its value", fv.Flag, argv[found+1])
	}
	argv[found+1] = fv.Value
	return argv, nil
}

// looksLikeFlag takes "-3" and "-0.5" for values and "-" for standard input.
func looksLikeFlag(arg string) bool {
	if len(arg) < 2 || arg[0] != '-' {
		return false
	}
	_, err := strconv.ParseFloat(arg, 64)
	return err != nil
}

// merge lays a variant's environment over its benchmark's.
func (e Env) merge(over Env) Env {
	out := Env{Set: mergeMaps(e.Set, over.Set), Prepend: mergeMaps(e.Prepend, over.Prepend)}
	for _, name := range append(slices.Clone(e.Unset), over.Unset...) {
		if !slices.Contains(out.Unset, name) {
			out.Unset = append(out.Unset, name)
		}
	}
	// A variable that the variant sets is no longer unset by the benchmark, and
	// the other way round.
	out.Unset = slices.DeleteFunc(out.Unset, func(n string) bool { _, set := over.Set[n]; return set })
	for _, n := range over.Unset {
		delete(out.Set, n)
	}
	slices.Sort(out.Unset)
	return out
}

func mergeMaps(base, over map[string]string) map[string]string {
	if len(base)+len(over) == 0 {
		return nil
	}
	out := make(map[string]string, len(base)+len(over))
	for k, v := range base {
		out[k] = v
	}
	for k, v := range over {
		out[k] = v
	}
	return out
}
