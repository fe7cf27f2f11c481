package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"

	petstore "example.com/shop/petstore"
)

var nextCursor = regexp.MustCompile(`[?&]cursor=([^&>]+)`)

func client(key string) *petstore.APIClient {
	settings := petstore.NewConfiguration()
	settings.Servers = petstore.ServerConfigurations{{URL: os.Getenv("BASE_URL")}}
	settings.AddDefaultHeader("Authorization", "Bearer "+os.Getenv(key))
	return petstore.NewAPIClient(settings)
}

func refusal(err error) string {
	var answer *petstore.GenericOpenAPIError
	if !errors.As(err, &answer) {
		panic(err)
	}
	refused := answer.Model().(petstore.Error)
	return fmt.Sprint(refused.Status, " ", refused.Code)
}

func must[T any](value T, _ *http.Response, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	shop := client("API_KEY")

	category := must(shop.CategoriesAPI.CreateCategory(ctx).CategoryInput(*petstore.NewCategoryInput("Dogs")).Execute())
	fmt.Println("category", category.Name)

	var first int64
	for n := 1; n <= 5; n++ {
		input := petstore.NewPetInput("Pet "+strconv.Itoa(n), category.Id)
		pet := must(shop.AnimalsAPI.CreatePet(ctx).PetInput(*input).Execute())
		if n == 1 {
			first = pet.Id
		}
	}
	must(shop.InventoryAPI.ReplaceInventoryItem(ctx, first).InventoryUpdate(*petstore.NewInventoryUpdate(1)).Execute())

	var names []string
	for cursor := ""; ; {
		ask := shop.AnimalsAPI.ListPets(ctx).Limit(2)
		if cursor != "" {
			ask = ask.Cursor(cursor)
		}
		page, answer, err := ask.Execute()
		for _, pet := range must(page, answer, err) {
			names = append(names, pet.Name)
		}
		next := nextCursor.FindStringSubmatch(answer.Header.Get("Link"))
		if next == nil {
			break
		}
		cursor, _ = url.QueryUnescape(next[1])
	}
	fmt.Println("pets", strings.Join(names, ", "))

	input := petstore.NewOrderInput()
	input.SetPetId(first)
	order := must(shop.OrdersAPI.CreateOrder(ctx).OrderInput(*input).Execute())
	fmt.Println("order", order.GetQuantity(), order.GetComplete())
	_, _, err := shop.OrdersAPI.CreateOrder(ctx).OrderInput(*input).Execute()
	fmt.Println("refused", refusal(err))

	picture, err := os.Open("rex.jpg")
	if err != nil {
		panic(err)
	}
	photo := must(shop.AnimalsAPI.AddPhoto(ctx, first).Alt("Rex on a lawn").Body(picture).Execute())
	fmt.Println("photo", photo.Width, photo.Height, photo.Alt)

	var types []string
	for after := int64(0); ; {
		page := must(shop.EventsAPI.ListEvents(ctx).After(after).Limit(4).Execute())
		if len(page) == 0 {
			break
		}
		for _, event := range page {
			types = append(types, string(event.Type))
			after = event.Position
		}
	}
	fmt.Println("events", strings.Join(types, " "))

	limited := client("LIMITED_KEY")
	for {
		_, answer, err := limited.AnimalsAPI.ListPets(ctx).Execute()
		if err != nil {
			seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
			fmt.Println("limited", refusal(err), seconds > 0)
			return
		}
	}
}
