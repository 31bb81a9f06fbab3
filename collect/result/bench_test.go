package result

import (
	"bytes"
	"io"
	"testing"
)

func BenchmarkDecode(b *testing.B) {
	const cells = 5000
	var buf bytes.Buffer
	if err := Encode(&buf, largeDocument(cells, 20, 10)); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(buf.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(bytes.NewReader(buf.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cells)*float64(b.N)/b.Elapsed().Seconds(), "cells/s")
}

func BenchmarkEncode(b *testing.B) {
	const cells = 5000
	d := largeDocument(cells, 20, 10)
	var size countingWriter
	if err := Encode(&size, d); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if err := Encode(io.Discard, d); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cells)*float64(b.N)/b.Elapsed().Seconds(), "cells/s")
}

type countingWriter int64

func (c *countingWriter) Write(p []byte) (int, error) {
	*c += countingWriter(len(p))
	return len(p), nil
}
