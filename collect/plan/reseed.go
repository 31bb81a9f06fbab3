package plan

// Reseed is the same plan in another order: what is measured again and again draws
// an order each time.
func (p *Plan) Reseed(seed uint64) *Plan {
	q := *p
	q.Seed = seed
	q.Order = order(q.Cells, seed)
	q.Digest = q.digest()
	return &q
}
