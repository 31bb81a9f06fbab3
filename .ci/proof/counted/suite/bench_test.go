// Package counted is what .ci/proof/counted.sh measures by allocations: what is
// always the same, what depends on how a map hashes, and what goroutines share.
package counted

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// amount is n as often as the benchmark's file says, in percent.
func amount(b *testing.B, name string, n int) int {
	b.Helper()
	data, err := os.ReadFile("amount/" + name)
	if err != nil {
		b.Fatal(err)
	}
	percent, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || percent < 1 {
		b.Fatalf("amount/%s holds no amount: %q", name, data)
	}
	b.ReportAllocs()
	b.ResetTimer()
	return n * percent / 100
}

type node struct{ left, right *node }

func (n *node) insert(path uint) *node {
	if n == nil {
		return &node{}
	}
	if path&1 == 0 {
		n.left = n.left.insert(path >> 1)
	} else {
		n.right = n.right.insert(path >> 1)
	}
	return n
}

// BenchmarkTree allocates a node at a time: always as often.
func BenchmarkTree(b *testing.B) {
	n := amount(b, "tree", 2000)
	for b.Loop() {
		var root *node
		for i := range n {
			root = root.insert(uint(i) * 2654435761)
		}
	}
}

// BenchmarkIndex fills a map that grows. How often it does depends on the seed of
// its hashes, another one in every process.
func BenchmarkIndex(b *testing.B) {
	n := amount(b, "index", 2000)
	for b.Loop() {
		index := map[string]int{}
		for i := range n {
			index[fmt.Sprint("key of ", i)] = i
		}
	}
}

// BenchmarkEncode has goroutines that take buffers from a pool, which the garbage
// collector empties whenever it runs.
func BenchmarkEncode(b *testing.B) {
	n := amount(b, "encode", 400)
	type record struct {
		Name  string
		Words []string
		At    map[string]float64
	}
	for b.Loop() {
		var all sync.WaitGroup
		for part := range 4 {
			all.Go(func() {
				for i := part; i < n; i += 4 {
					r := record{strconv.Itoa(i), strings.Fields("a few words to encode"), map[string]float64{"x": float64(i)}}
					if _, err := json.Marshal(&r); err != nil {
						b.Error(err)
					}
				}
			})
		}
		all.Wait()
	}
}
