import json
import os
import re
from urllib.parse import unquote

import openapi_client as petstore


def client(key):
    settings = petstore.Configuration(host=os.environ["BASE_URL"], access_token=os.environ[key], retries=0)
    return petstore.ApiClient(settings)


def refusal(error):
    return f"{error.status} {petstore.Error.from_json(error.body).code}"


shop = client("API_KEY")
animals = petstore.AnimalsApi(shop)
orders = petstore.OrdersApi(shop)

category = petstore.CategoriesApi(shop).create_category(petstore.NewCategory(name="Dogs"))
print("category", category.name)

pets = [animals.create_pet(petstore.NewPet(name=f"Pet {n}", categoryId=category.id)) for n in range(1, 6)]
petstore.InventoryApi(shop).replace_inventory_item(pets[0].id, petstore.InventoryUpdate(quantity=1))

names, cursor = [], None
while True:
    page = animals.list_pets_with_http_info(limit=2, cursor=cursor)
    names += [pet.name for pet in page.data]
    following = re.search(r"[?&]cursor=([^&>]+)", page.headers.get("Link", ""))
    if following is None:
        break
    cursor = unquote(following[1])
print("pets", ", ".join(names))

order = orders.create_order(petstore.OrderInput(petId=pets[0].id))
print("order", order.quantity, json.dumps(order.complete))

try:
    orders.create_order(petstore.OrderInput(petId=pets[0].id))
except petstore.ApiException as error:
    print("refused", refusal(error))

with open("rex.jpg", "rb") as picture:
    photo = animals.add_photo(pets[0].id, picture.read(), alt="Rex on a lawn")
print("photo", photo.width, photo.height, photo.alt)

events, after = [], 0
while page := petstore.EventsApi(shop).list_events(after=after, limit=4):
    events += [event.type for event in page]
    after = page[-1].position
print("events", " ".join(events))

limited = petstore.AnimalsApi(client("LIMITED_KEY"))
try:
    while True:
        limited.list_pets()
except petstore.ApiException as error:
    print("limited", refusal(error), json.dumps(int(error.headers["Retry-After"]) > 0))
