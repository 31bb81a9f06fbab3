package config

import _ "embed"

//go:embed default.yml
var defaultSuite string

// Default returns a commented suite file to start from. Parse is silent on it.
func Default() []byte { return []byte(defaultSuite) }
