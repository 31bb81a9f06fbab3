package measure

import (
	"maps"
	"slices"
	"strings"

	"github.com/perfweir/perfweir/collect/plan"
)

// Variables that perfweir gives to a command.
const (
	EnvMetrics = "PERFWEIR_METRICS" // path to write the metrics document to
	EnvOut     = "PERFWEIR_OUT"     // folder for outputs: what {out} stands for
)

// secretNames never reach a command: credentials by their usual names, channels to
// an agent that holds some, and the files through which a step talks to GitHub's
// runner (and RUNNER_TEMP, below which they lie).
func secretNames() []string {
	return []string{
		"GITHUB_TOKEN", "GH_TOKEN", "GH_ENTERPRISE_TOKEN", "TOKEN", "SECRET", "PASSWORD", "API_KEY",
		"GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY", "RUNNER_TEMP",
		"SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS", "GIT_ASKPASS", "GPG_AGENT_INFO", "SUDO_ASKPASS",
		"NETRC", "PGPASSWORD", "PGPASSFILE", "MYSQL_PWD", "DOCKER_AUTH_CONFIG", "KUBECONFIG",
		"GOOGLE_APPLICATION_CREDENTIALS", "GOAUTH", "NODE_AUTH_TOKEN",
	}
}

// secretPrefixes are families of which no member is a command's business: what the
// runner gives to an action, and the clouds' own. PERFWEIR_ is ours: one runner
// inside another must not write into its files.
func secretPrefixes() []string {
	return []string{"ACTIONS_", "INPUT_", "STATE_", "AWS_", "AZURE_", "VAULT_", "PERFWEIR_", "GIT_CONFIG_"}
}

// secretSuffixes are how people name credentials of their own.
func secretSuffixes() []string {
	return []string{
		"_TOKEN", "_SECRET", "_SECRETS", "_PASSWORD", "_PASSWD", "_PASS", "_PASSPHRASE", "_PWD", "_PAT",
		"_API_KEY", "_APIKEY", "_ACCESS_KEY", "_ACCESS_KEY_ID", "_SECRET_KEY", "_PRIVATE_KEY", "_SIGNING_KEY",
		"_ENCRYPTION_KEY", "_CREDENTIALS", "_CREDENTIAL", "_AUTH", "AUTHTOKEN", "_AUTH_CONFIG",
	}
}

// Secret reports whether a variable of the runner's environment is kept from the
// commands under test. Case does not matter: npm reads its settings in lower case.
func Secret(name string) bool {
	name = strings.ToUpper(name)
	return slices.Contains(secretNames(), name) ||
		slices.ContainsFunc(secretPrefixes(), func(p string) bool { return strings.HasPrefix(name, p) }) ||
		slices.ContainsFunc(secretSuffixes(), func(s string) bool { return strings.HasSuffix(name, s) })
}

// WithoutSecrets returns the environment that a command under test may see, in
// order of names: for the build, and as the base of Environ. Of a name that is
// there twice the last one counts.
func WithoutSecrets(environ []string) []string { return list(visible(environ)) }

// Environ is the environment of a command: the runner's without secrets, LC_ALL=C
// (numbers are printed with points) and NO_COLOR=1, then the suite's edits, then
// own, which nothing overrides. A variable that the suite sets is the suite's to
// answer for, whatever its name. Order: unset, set, prepend.
func Environ(runner []string, edit plan.Env, own map[string]string) []string {
	vars := visible(runner)
	vars["LC_ALL"] = "C"
	vars["NO_COLOR"] = "1"
	for _, name := range edit.Unset {
		delete(vars, name)
	}
	maps.Copy(vars, edit.Set)
	for name, value := range edit.Prepend {
		if old := vars[name]; old != "" {
			value += ":" + old
		}
		vars[name] = value
	}
	maps.Copy(vars, own)
	return list(vars)
}

func visible(environ []string) map[string]string {
	vars := map[string]string{}
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		if ok && name != "" && !Secret(name) {
			vars[name] = value
		}
	}
	return vars
}

func list(vars map[string]string) []string {
	out := make([]string, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		out = append(out, name+"="+vars[name])
	}
	return out
}
