export default {
  petstore: {
    input: "openapi.json",
    output: { target: "petstore.ts", client: "fetch", override: { mutator: { path: "request.ts", name: "request" } } },
  },
};
