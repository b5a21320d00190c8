// alexliesenfeld/health on net/http with one check that is always good.
package main

import (
	"context"
	"net/http"
	"os"

	"github.com/alexliesenfeld/health"
)

func main() {
	checker := health.NewChecker(health.WithCheck(health.Check{
		Name:  "dependency",
		Check: func(context.Context) error { return nil },
	}))
	http.Handle("/health", health.NewHandler(checker))
	if err := http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil); err != nil {
		panic(err)
	}
}
