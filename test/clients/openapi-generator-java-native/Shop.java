import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.AnimalsApi;
import org.openapitools.client.api.CategoriesApi;
import org.openapitools.client.api.EventsApi;
import org.openapitools.client.api.InventoryApi;
import org.openapitools.client.api.OrdersApi;
import org.openapitools.client.model.Error;
import org.openapitools.client.model.Event;
import org.openapitools.client.model.InventoryUpdate;
import org.openapitools.client.model.NewCategory;
import org.openapitools.client.model.NewPet;
import org.openapitools.client.model.OrderInput;
import org.openapitools.client.model.Pet;

public class Shop {
    static final Pattern NEXT = Pattern.compile("[?&]cursor=([^&>]+)");

    /** Writes a file as it is, where the generated code would turn it into JSON. */
    static class FileBytes extends StdSerializer<File> {
        FileBytes() {
            super(File.class);
        }

        @Override
        public void serialize(File file, JsonGenerator json, SerializerProvider provider) throws IOException {
            json.flush();
            Files.copy(file.toPath(), (OutputStream) json.getOutputTarget());
        }
    }

    static ApiClient client(String key) {
        ApiClient client = new ApiClient();
        ObjectMapper json = client.getObjectMapper();
        client.setObjectMapper(json.registerModule(new SimpleModule().addSerializer(new FileBytes())));
        client.updateBaseUri(System.getenv("BASE_URL"));
        client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + System.getenv(key)));
        return client;
    }

    static String refusal(ApiException refused) throws Exception {
        Error error = new ApiClient().getObjectMapper().readValue(refused.getResponseBody(), Error.class);
        return error.getStatus() + " " + error.getCode();
    }

    public static void main(String[] args) throws Exception {
        ApiClient shop = client("API_KEY");
        AnimalsApi animals = new AnimalsApi(shop);
        OrdersApi orders = new OrdersApi(shop);

        var category = new CategoriesApi(shop).createCategory(new NewCategory().name("Dogs"), null, null, null, null);
        System.out.println("category " + category.getName());

        List<Pet> pets = new ArrayList<>();
        for (int n = 1; n <= 5; n++) {
            NewPet pet = new NewPet().name("Pet " + n).categoryId(category.getId());
            pets.add(animals.createPet(pet, null, null, null, null));
        }
        Long first = pets.get(0).getId();
        new InventoryApi(shop).replaceInventoryItem(first, new InventoryUpdate().quantity(1), null, null, null, null);

        List<String> names = new ArrayList<>();
        String cursor = null;
        do {
            var page = animals.listPetsWithHttpInfo(null, null, null, null, null, null, null, null, 2, cursor, null, null, null, null);
            for (Pet pet : page.getData()) names.add(pet.getName());
            Matcher next = NEXT.matcher(page.getHeaders().getOrDefault("link", List.of("")).get(0));
            cursor = next.find() ? URLDecoder.decode(next.group(1), StandardCharsets.UTF_8) : null;
        } while (cursor != null);
        System.out.println("pets " + String.join(", ", names));

        OrderInput input = new OrderInput().petId(first);
        var order = orders.createOrder(input, null, null, null, null);
        System.out.println("order " + order.getQuantity() + " " + order.getComplete());
        try {
            orders.createOrder(input, null, null, null, null);
        } catch (ApiException refused) {
            System.out.println("refused " + refusal(refused));
        }

        var photo = animals.addPhoto(first, new File("rex.jpg"), "Rex on a lawn", null, null, null, null, null);
        System.out.println("photo " + photo.getWidth() + " " + photo.getHeight() + " " + photo.getAlt());

        List<String> types = new ArrayList<>();
        long after = 0;
        for (;;) {
            List<Event> page = new EventsApi(shop).listEvents(after, null, 4, null, null, null);
            if (page.isEmpty()) break;
            for (Event event : page) types.add(event.getType());
            after = page.get(page.size() - 1).getPosition();
        }
        System.out.println("events " + String.join(" ", types));

        AnimalsApi limited = new AnimalsApi(client("LIMITED_KEY"));
        try {
            for (;;) limited.listPets(null, null, null, null, null, null, null, null, null, null, null, null, null, null);
        } catch (ApiException refused) {
            int seconds = Integer.parseInt(refused.getResponseHeaders().firstValue("Retry-After").orElse("0"));
            System.out.println("limited " + refusal(refused) + " " + (seconds > 0));
        }
    }
}
