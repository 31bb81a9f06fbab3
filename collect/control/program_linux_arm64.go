package control

import _ "embed" // for program

//go:embed control_arm64
var program string
