<?php
require "GuzzleHttp/autoload.php";

use OpenAPI\Client as Petstore;
use OpenAPI\Client\Model;

spl_autoload_register(function (string $class): void {
    require __DIR__ . "/petstore/lib/" . strtr(substr($class, strlen("OpenAPI\\Client\\")), "\\", "/") . ".php";
});

function settings(string $key): Petstore\Configuration
{
    return (new Petstore\Configuration())->setHost(getenv("BASE_URL"))->setAccessToken(getenv($key));
}

function refusal(Petstore\ApiException $error): string
{
    return $error->getCode() . " " . $error->getResponseObject()->getCode();
}

$http = new GuzzleHttp\Client();
$shop = settings("API_KEY");
$animals = new Petstore\Api\AnimalsApi($http, $shop);
$orders = new Petstore\Api\OrdersApi($http, $shop);

$category = (new Petstore\Api\CategoriesApi($http, $shop))->createCategory(new Model\NewCategory(["name" => "Dogs"]));
echo "category ", $category->getName(), "\n";

$pets = [];
foreach (range(1, 5) as $n) {
    $pets[] = $animals->createPet(new Model\NewPet(["name" => "Pet $n", "category_id" => $category->getId()]));
}
$first = $pets[0]->getId();
(new Petstore\Api\InventoryApi($http, $shop))->replaceInventoryItem($first, new Model\InventoryUpdate(["quantity" => 1]));

$names = [];
$cursor = null;
do {
    [$page, , $headers] = $animals->listPetsWithHttpInfo(limit: 2, cursor: $cursor);
    foreach ($page as $pet) {
        $names[] = $pet->getName();
    }
    $cursor = preg_match("/[?&]cursor=([^&>]+)/", $headers["Link"][0] ?? "", $next) ? urldecode($next[1]) : null;
} while ($cursor !== null);
echo "pets ", implode(", ", $names), "\n";

$order = $orders->createOrder(new Model\OrderInput(["pet_id" => $first]));
echo "order ", $order->getQuantity(), " ", json_encode($order->getComplete()), "\n";

try {
    $orders->createOrder(new Model\OrderInput(["pet_id" => $first]));
} catch (Petstore\ApiException $error) {
    echo "refused ", refusal($error), "\n";
}

$photo = $animals->addPhoto($first, new SplFileObject("rex.jpg"), "Rex on a lawn");
echo "photo {$photo->getWidth()} {$photo->getHeight()} {$photo->getAlt()}\n";

$types = [];
$after = 0;
while ($page = (new Petstore\Api\EventsApi($http, $shop))->listEvents(after: $after, limit: 4)) {
    foreach ($page as $event) {
        $types[] = $event->getType();
        $after = $event->getPosition();
    }
}
echo "events ", implode(" ", $types), "\n";

$limited = new Petstore\Api\AnimalsApi($http, settings("LIMITED_KEY"));
try {
    while (true) {
        $limited->listPets();
    }
} catch (Petstore\ApiException $error) {
    echo "limited ", refusal($error), " ", json_encode((int) $error->getResponseHeaders()["Retry-After"][0] > 0), "\n";
}
