use petstore::{Client, types};
use progenitor_client::Error as Failure;
use reqwest::header::{AUTHORIZATION, HeaderMap};
use std::{env, error::Error, fmt::Display};

mod petstore {
    progenitor::generate_api!(spec = "openapi.json", interface = Builder);
}

fn client(key: &str) -> Result<Client, Box<dyn Error>> {
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, format!("Bearer {}", env::var(key)?).parse()?);
    let http = reqwest::Client::builder().default_headers(headers).build()?;
    Ok(Client::new_with_client(&env::var("BASE_URL")?, http))
}

fn refusal(failure: &Failure<types::Error>) -> String {
    match failure {
        Failure::ErrorResponse(answer) => format!("{} {}", answer.status, answer.code.as_str()),
        other => panic!("{other}"),
    }
}

fn show(what: &str, value: impl Display) {
    println!("{what} {value}");
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let shop = client("API_KEY")?;

    let category = shop.create_category().body_map(|body| body.name("Dogs")).send().await?;
    show("category", &category.name);

    let mut pets = Vec::new();
    for n in 1..=5 {
        let category_id = category.id;
        pets.push(shop.create_pet().body_map(|body| body.name(format!("Pet {n}")).category_id(category_id)).send().await?);
    }
    let first = pets[0].id;
    shop.replace_inventory_item().pet_id(first).body_map(|body| body.quantity(1)).send().await?;

    let mut names = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let mut page = shop.list_pets().limit(2);
        if let Some(begin) = &cursor {
            page = page.cursor(begin.as_str());
        }
        let page = page.send().await?;
        let link = page.headers().get("Link").map_or("", |link| link.to_str().unwrap_or(""));
        let next = link.split_once("cursor=").map(|(_, rest)| rest.split(['&', '>']).next().unwrap_or("").to_owned());
        names.extend(page.iter().map(|pet| pet.name.to_string()));
        if next.is_none() {
            break;
        }
        cursor = next;
    }
    show("pets", names.join(", "));

    let order = shop.create_order().body_map(|body| body.pet_id(first)).send().await?;
    show("order", format!("{} {}", order.quantity.unwrap(), order.complete.unwrap()));
    let refused = shop.create_order().body_map(|body| body.pet_id(first)).send().await.unwrap_err();
    show("refused", refusal(&refused));

    let picture = std::fs::read("rex.jpg")?;
    let photo = shop.add_photo().pet_id(first).alt("Rex on a lawn").body(picture).send().await?;
    show("photo", format!("{} {} {}", photo.width, photo.height, photo.alt.as_str()));

    let mut kinds = Vec::new();
    let mut after = 0;
    loop {
        let page = shop.list_events().after(after).limit(4).send().await?;
        let Some(last) = page.last() else { break };
        after = last.position.get() as i64;
        kinds.extend(page.iter().map(|event| event.type_.to_string()));
    }
    show("events", kinds.join(" "));

    let limited = client("LIMITED_KEY")?;
    loop {
        if let Err(refused) = limited.list_pets().send().await {
            let Failure::ErrorResponse(answer) = &refused else { panic!("{refused}") };
            let seconds: u32 = answer.headers()["Retry-After"].to_str()?.parse()?;
            show("limited", format!("{} {}", refusal(&refused), seconds > 0));
            return Ok(());
        }
    }
}
