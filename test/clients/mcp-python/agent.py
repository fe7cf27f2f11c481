import asyncio
import json
import os
from urllib.parse import urljoin

from mcp import Client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


async def main():
    headers = {"Authorization": f"Bearer {os.environ['API_KEY']}"}
    async with create_mcp_http_client(headers=headers) as http:
        async with Client(streamable_http_client(urljoin(os.environ["BASE_URL"], "/mcp"), http_client=http)) as agent:
            tools = {tool.name for tool in (await agent.list_tools()).tools}
            needed = {"createCategory", "createPet", "replaceInventoryItem", "createOrder", "listPets", "listEvents"}
            print("missing", sorted(needed - tools))

            async def call(tool, **arguments):
                result = await agent.call_tool(tool, arguments)
                return result.is_error, result.structured_content or json.loads(result.content[0].text)

            _, category = await call("createCategory", body={"name": "Dogs"})
            print("category", category["name"])
            _, pet = await call("createPet", body={"name": "Rex", "categoryId": category["id"]})
            print("pet", pet["name"], pet["status"])
            _, stock = await call("replaceInventoryItem", petId=pet["id"], body={"quantity": 1})
            print("stock", stock["quantity"], stock["status"])
            _, order = await call("createOrder", body={"petId": pet["id"]})
            print("order", order["quantity"], json.dumps(order["complete"]))
            is_error, refusal = await call("createOrder", body={"petId": pet["id"]})
            print("refused", json.dumps(is_error), refusal["code"])


asyncio.run(main())
