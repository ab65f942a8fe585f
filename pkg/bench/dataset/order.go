package dataset

import "math/bits"

// order is a seeded permutation of 0..n-1 that needs no memory: a four-round Feistel
// network on the next even number of bits, walked until the value is below n.
type order struct {
	n    uint64
	half uint
	keys [4]uint64
}

func newOrder(n int64, seed int64, level int) order {
	o := order{n: uint64(max(n, 1))}                               //nolint:gosec // n is a count
	o.half = uint(max(1, (bits.Len64(o.n-1)+1)/2))                 //nolint:gosec // at most 32
	k := mix(uint64(seed)) ^ mix(uint64(level)+0x9e3779b97f4a7c15) //nolint:gosec // bits, not a number
	for i := range o.keys {
		k = mix(k + 0x9e3779b97f4a7c15)
		o.keys[i] = k
	}
	return o
}

// at is the i-th element, 0 <= i < n.
func (o order) at(i int64) int64 {
	x := uint64(i) //nolint:gosec // i is an index
	mask := uint64(1)<<o.half - 1
	for {
		l, r := x>>o.half, x&mask
		for _, k := range o.keys {
			l, r = r, l^(mix(r^k)&mask)
		}
		if x = l<<o.half | r; x < o.n {
			return int64(x) //nolint:gosec // below n
		}
	}
}

// mix is the finalizer of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
