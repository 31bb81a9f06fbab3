package ghapi

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"strconv"
)

const (
	perPage = 100 // GitHub's most
	// maxPages bounds what one list may cost: 5,000 entries, of an hour's 1,000 requests.
	maxPages = 50
)

// list reads a list page by page, as far as the caller goes on. P is a page as
// GitHub sends it, items takes the entries out of it, id tells entries apart: what
// is added to the front while we read comes a second time on the next page.
//
// The number of the next page is taken from the Link header, not the address in it:
// for a renamed repository that is another one (/repositories/1000/...), of which a
// proxy in front of an enterprise server knows nothing.
func list[P, T any](ctx context.Context, c *Client, k call, path string, query url.Values, items func(*P) []T, id func(T) int64) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		q := maps.Clone(query)
		if q == nil {
			q = url.Values{}
		}
		q.Set("per_page", strconv.Itoa(perPage))
		seen := map[int64]bool{}
		for page, read := 1, 0; ; read++ {
			if read == maxPages {
				yield(none, fmt.Errorf("%s: %d entries read, and there are more: %w", oneLine(k.what), len(seen), ErrNotAll))
				return
			}
			if page > 1 {
				q.Set("page", strconv.Itoa(page))
			}
			var p P
			resp, err := c.get(ctx, k, path, q, &p)
			if err != nil {
				yield(none, err)
				return
			}
			for _, item := range items(&p) {
				if n := id(item); seen[n] {
					continue
				} else {
					seen[n] = true
				}
				if !yield(item, nil) {
					return
				}
			}
			if resp.NextPage <= page { // the last one, or a server that counts backwards
				return
			}
			page = resp.NextPage
		}
	}
}

// all collects a list.
func all[T any](seq iter.Seq2[T, error]) ([]T, error) {
	var out []T
	for item, err := range seq {
		if err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, nil
}
