package control

import _ "embed" // for program

//go:embed control_amd64
var program string
