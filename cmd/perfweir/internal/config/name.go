package config

import "gopkg.in/yaml.v3"

// NameOf is the name of the suite that a file is of, even where the file has
// problems: whoever waits for its check should be told of them under its name. It
// is "" where the file is no YAML or its name is none.
func NameOf(data []byte) string {
	if len(data) > MaxBytes {
		return ""
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil || len(root.Content) == 0 {
		return ""
	}
	top := root.Content[0]
	if top.Kind != yaml.MappingNode {
		return ""
	}
	if at := keyOf(top, "suite"); at >= 0 {
		if value := top.Content[at+1]; value.Kind == yaml.ScalarNode && CheckSuiteName(value.Value) == nil {
			return value.Value
		}
	}
	return ""
}
