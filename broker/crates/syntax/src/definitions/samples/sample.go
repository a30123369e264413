// Package p.
package p

import "testing"

const Limit = 10

// Kinds.
const (
	// A.
	A = iota
	B
)

var ErrNone = errors.New("none")
var handler = func() {}

// T is a type.
type T[K any] struct{ a int }

type (
	Shape interface {
		Area() float64
	}
	Alias = T[int]
	Number int
)

// Run runs.
func (t *T[K]) Run() {}
func (n Number) String() string { return "" }
func free(a, b int) { x := func() {}; x() }

func TestT(t *testing.T) {
	t.Run("sub", func(t *testing.T) {
	})
}
func Testimony() {}
