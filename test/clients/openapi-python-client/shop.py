import json
import os
import re
from urllib.parse import unquote

from petstore import AuthenticatedClient
from petstore.api.animals import add_photo, create_pet, list_pets
from petstore.api.categories import create_category
from petstore.api.events import list_events
from petstore.api.inventory import replace_inventory_item
from petstore.api.orders import create_order
from petstore.models import InventoryUpdate, NewCategory, NewPet, OrderInput
from petstore.types import UNSET, File


def client(key):
    return AuthenticatedClient(base_url=os.environ["BASE_URL"], token=os.environ[key])


def refusal(answer):
    return f"{answer.status_code} {answer.parsed.code}"


shop = client("API_KEY")

category = create_category.sync(client=shop, body=NewCategory(name="Dogs"))
print("category", category.name)

pets = [create_pet.sync(client=shop, body=NewPet(name=f"Pet {n}", category_id=category.id)) for n in range(1, 6)]
replace_inventory_item.sync(pets[0].id, client=shop, body=InventoryUpdate(quantity=1))

names, cursor = [], UNSET
while True:
    page = list_pets.sync_detailed(client=shop, limit=2, cursor=cursor)
    names += [pet.name for pet in page.parsed]
    following = re.search(r"[?&]cursor=([^&>]+)", page.headers.get("Link", ""))
    if following is None:
        break
    cursor = unquote(following[1])
print("pets", ", ".join(names))

order = create_order.sync(client=shop, body=OrderInput(pet_id=pets[0].id))
print("order", order.quantity, json.dumps(order.complete))
print("refused", refusal(create_order.sync_detailed(client=shop, body=OrderInput(pet_id=pets[0].id))))

with open("rex.jpg", "rb") as picture:
    photo = add_photo.sync(pets[0].id, client=shop, body=File(payload=picture), alt="Rex on a lawn")
print("photo", photo.width, photo.height, photo.alt)

events, after = [], 0
while page := list_events.sync(client=shop, after=after, limit=4):
    events += [event.type_ for event in page]
    after = page[-1].position
print("events", " ".join(events))

limited = client("LIMITED_KEY")
while (answer := list_pets.sync_detailed(client=limited)).status_code == 200:
    pass
print("limited", refusal(answer), json.dumps(int(answer.headers["Retry-After"]) > 0))
