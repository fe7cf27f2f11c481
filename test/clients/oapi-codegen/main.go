package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"

	"example.com/shop/petstore"
)

var nextCursor = regexp.MustCompile(`[?&]cursor=([^&>]+)`)

func client(key string) *petstore.ClientWithResponses {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv(key))
		return nil
	}
	return must(petstore.NewClientWithResponses(os.Getenv("BASE_URL"), petstore.WithRequestEditorFn(authorize)))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func refusal(refused *petstore.Error) string {
	return fmt.Sprint(refused.Status, " ", refused.Code)
}

func main() {
	ctx := context.Background()
	shop := client("API_KEY")

	category := must(shop.CreateCategoryWithResponse(ctx, nil, petstore.NewCategory{Name: "Dogs"})).JSON201
	fmt.Println("category", category.Name)

	var first int64
	for n := 1; n <= 5; n++ {
		pet := must(shop.CreatePetWithResponse(ctx, nil, petstore.NewPet{Name: "Pet " + strconv.Itoa(n), CategoryId: category.Id})).JSON201
		if n == 1 {
			first = pet.Id
		}
	}
	must(shop.ReplaceInventoryItemWithResponse(ctx, first, nil, petstore.InventoryUpdate{Quantity: 1}))

	var names []string
	limit, cursor := 2, (*string)(nil)
	for {
		page := must(shop.ListPetsWithResponse(ctx, &petstore.ListPetsParams{Limit: &limit, Cursor: cursor}))
		for _, pet := range *page.JSON200 {
			names = append(names, pet.Name)
		}
		next := nextCursor.FindStringSubmatch(page.HTTPResponse.Header.Get("Link"))
		if next == nil {
			break
		}
		following := must(url.QueryUnescape(next[1]))
		cursor = &following
	}
	fmt.Println("pets", strings.Join(names, ", "))

	order := must(shop.CreateOrderWithResponse(ctx, nil, petstore.OrderInput{PetId: &first})).JSON201
	fmt.Println("order", *order.Quantity, *order.Complete)
	refused := must(shop.CreateOrderWithResponse(ctx, nil, petstore.OrderInput{PetId: &first})).JSON409
	fmt.Println("refused", refusal(refused))

	alt := "Rex on a lawn"
	picture := must(os.Open("rex.jpg"))
	photo := must(shop.AddPhotoWithBodyWithResponse(ctx, first, &petstore.AddPhotoParams{Alt: &alt}, "application/octet-stream", picture)).JSON201
	fmt.Println("photo", photo.Width, photo.Height, photo.Alt)

	var types []string
	eventsMax := 4
	for after := int64(0); ; {
		page := *must(shop.ListEventsWithResponse(ctx, &petstore.ListEventsParams{After: &after, Limit: &eventsMax})).JSON200
		if len(page) == 0 {
			break
		}
		for _, event := range page {
			types = append(types, event.Type)
			after = event.Position
		}
	}
	fmt.Println("events", strings.Join(types, " "))

	limited := client("LIMITED_KEY")
	for {
		answer := must(limited.ListPetsWithResponse(ctx, nil))
		if answer.JSON429 != nil {
			seconds := must(strconv.Atoi(answer.HTTPResponse.Header.Get("Retry-After")))
			fmt.Println("limited", refusal(answer.JSON429), seconds > 0)
			return
		}
	}
}
