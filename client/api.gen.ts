// Made from openapi.json by `npm run description`.

type Json<T> = { content: { readonly "application/json": T } };
type Empty = { content?: never };

export type Schemas = {
  Error: {
    /** Machine-readable error code. */
    code: string;
    /** Human-readable description. */
    message: string;
    /** The HTTP status code. */
    status: number;
    /** With `invalid_request`: each value that was refused. */
    details?: ({
      /** Where the value stands: `body.name`, `query.limit`, `path.petId`. */
      path: string;
      /** What is wrong with it. */
      message: string;
    })[];
  };
  PetStatus: "available" | "pending" | "sold";
  Pet: {
    /** Unique identifier assigned on creation. */
    id: number;
    /** The animal's name. */
    name: string;
    /** ID of the category the animal belongs to. */
    categoryId: number;
    status: Schemas["PetStatus"];
  };
  Pets: (Schemas["Pet"])[];
  NewPet: {
    /** The animal's name. */
    name: string;
    /** ID of the category the animal belongs to. */
    categoryId: number;
    status?: "available" | "pending" | "sold";
  };
  PetPatch: {
    /** The animal's name. */
    name?: string;
    /** ID of the category the animal belongs to. */
    categoryId?: number;
    status?: "available" | "pending" | "sold" | null;
  };
  Category: {
    /** Unique identifier assigned on creation. */
    id: number;
    /** Category name, for example a species. Unique, whatever its case. */
    name: string;
    /** Short description of the category. */
    description?: string;
  };
  Categories: (Schemas["Category"])[];
  NewCategory: {
    /** Category name, for example a species. Unique, whatever its case. */
    name: string;
    /** Short description of the category. */
    description?: string;
  };
  CategoryPatch: {
    /** Category name, for example a species. Unique, whatever its case. */
    name?: string;
    /** Short description of the category. */
    description?: string | null;
  };
  Order: {
    /** Unique order identifier. */
    id?: number;
    /** ID of the animal in the order. An order without it is a draft. */
    petId?: number;
    /** Number of units ordered. */
    quantity?: number;
    /** Expected or actual ship date, ISO 8601. */
    shipDate?: string;
    /** Whether the order has been fulfilled. */
    complete?: boolean;
  };
  Orders: (Schemas["Order"])[];
  OrderPatch: {
    /** Unique order identifier. */
    id?: number;
    /** ID of the animal in the order. An order without it is a draft. */
    petId?: number | null;
    /** Number of units ordered. */
    quantity?: number | null;
    /** Expected or actual ship date, ISO 8601. */
    shipDate?: string | null;
    /** Whether the order has been fulfilled. */
    complete?: boolean | null;
  };
  InventoryItem: {
    /** ID of the animal the entry tracks. */
    petId: number;
    /** Current stock count: the units that are free. */
    quantity: number;
    status: Schemas["PetStatus"];
  };
  InventoryItems: (Schemas["InventoryItem"])[];
  InventoryUpdate: {
    /** The new stock count. */
    quantity: number;
  };
  InventoryAdjustment: {
    /** Units to add; below zero, to take away. */
    delta: number;
  };
  Account: {
    /** Unique identifier of the account. */
    id: number;
    /** The account's name. */
    name: string;
    /** The plan that the limits come from. */
    plan: "free" | "pro" | "business" | "enterprise";
    minute: {
      /** Requests that the account may make in a UTC minute. */
      limit: number;
      /** Requests used up, this one included. */
      used: number;
      /** Requests left. */
      remaining: number;
      /** When the window ends. */
      resetAt: string;
    };
    day: {
      /** Requests that the account may make in a UTC day. */
      limit: number;
      /** Requests used up, this one included. */
      used: number;
      /** Requests left. */
      remaining: number;
      /** When the window ends. */
      resetAt: string;
    };
    /** How near the key is to a ban. */
    key?: {
      /** The key that the request was made with. */
      id: number;
      /** Requests over a limit within the last minute. */
      strikes: number;
      /** How many more there may be before the key is banned. */
      strikesRemaining: number;
    };
    /** The bans in force, by key; a banned key cannot ask, another one of the account can. */
    bans: ({
      /** A key of the account that is banned. */
      keyId: number;
      /** When its ban ends. */
      until: string;
    })[];
  };
  Usage: {
    /** What one point counts. */
    interval: "minute" | "hour" | "day";
    /** When the oldest interval began. */
    from: string;
    /** When the running interval ends. */
    to: string;
    /** The intervals that had requests, oldest first; those without any are left out. */
    points: ({
      /** When the interval began. */
      start: string;
      /** Requests that passed the limits. */
      requests: number;
      /** Requests refused because a limit was reached. */
      refused: number;
      /** Requests refused because the key was banned. */
      banned: number;
    })[];
    /** The up to 50 keys or operations with most requests, by their number; only when asked for. */
    groups?: ({
      /** The key, when asked for by key. */
      keyId?: number;
      /** The operation, when asked for by operation; `other` for paths and methods that do not exist. */
      operation?: string;
      /** Requests that passed the limits. */
      requests: number;
      /** Requests refused because a limit was reached. */
      refused: number;
      /** Requests refused because the key was banned. */
      banned: number;
      /** The intervals that had requests, oldest first; those without any are left out. */
      points: ({
        /** When the interval began. */
        start: string;
        /** Requests that passed the limits. */
        requests: number;
        /** Requests refused because a limit was reached. */
        refused: number;
        /** Requests refused because the key was banned. */
        banned: number;
      })[];
    })[];
  };
  Project: {
    /** Unique identifier assigned on creation. */
    id: number;
    /** The project's name. */
    name: string;
    /** One DNS label: the project is served at `{slug}.{platform_domain}`. Unique over all accounts. */
    slug: string;
    /** Where the project is served on the platform. */
    url: string;
    /** The deployment that is served; null before the first one. */
    deploymentId: number | null;
    /** When the project was made. */
    createdAt: string;
  };
  Projects: (Schemas["Project"])[];
  NewProject: {
    /** The project's name. */
    name: string;
    /** One DNS label: the project is served at `{slug}.{platform_domain}`. Unique over all accounts. */
    slug: string;
  };
  ProjectPatch: {
    /** The project's name. */
    name?: string;
    /** One DNS label: the project is served at `{slug}.{platform_domain}`. Unique over all accounts. */
    slug?: string;
  };
  Deployment: {
    /** Unique identifier assigned on creation. */
    id: number;
    /** The project that it belongs to. */
    projectId: number;
    /** `queued`, then `ready` (and served at once) or `failed`. */
    status: "queued" | "ready" | "failed";
    /** Why it failed, and what to change. */
    error: string | null;
    /** How many files it serves. */
    files: number;
    /** Their size, unpacked. */
    bytes: number;
    /** When it was uploaded. */
    createdAt: string;
  };
  Deployments: (Schemas["Deployment"])[];
  Domain: {
    hostname: string;
    /** The project that it serves. */
    projectId: number;
    kind: "subdomain" | "apex";
    /** `pending`: never verified yet. `failing`: its DNS has changed since; still served, and checked hourly. */
    status: "pending" | "verified" | "failing";
    primary: boolean;
    redirect: {
      /** A name of the same project that does not redirect itself. */
      to: string;
      status: 301 | 302 | 307 | 308;
    } | null;
    /** The DNS record to create at the registrar. */
    record: {
      /** `CNAME` for a subdomain; for an apex `ALIAS`, which some providers call ANAME. */
      type: "CNAME" | "ALIAS";
      /** The label below the registrable domain, or `@`. */
      name: string;
      /** The platform target host: it must match exactly. */
      value: string;
      /** Seconds. */
      ttl: number;
    };
    /** A record that is needed as well, where another account has used the name. */
    challenge: {
      type: "TXT";
      name: string;
      value: string;
    } | null;
    problems: ({
      /** Such as `record_missing`, `conflicting_record`, `wrong_target`, `lookup_failed`, `proof_missing`, `caa_blocks`. */
      code: string;
      message: string;
      expected: string;
      found: string;
      /** What to change, and where. */
      fix: string;
    })[];
    certificate: {
      /** `none` while the name has not verified, and for good where the service has no certificate authority. */
      status: "none" | "issuing" | "issued" | "failing";
      /** When the certificate that is served was issued. */
      issuedAt: string | null;
      /** When it ends; it is renewed before. */
      expiresAt: string | null;
      /** Why the last try failed. */
      problem: string | null;
      /** When the next one is made. */
      retryAt: string | null;
    };
    /** What to look at when there is no certificate after 30 minutes. */
    attention: {
      /** Since when the certificate is late. */
      since: string;
      message: string;
      checks: ({
        check: string;
        /** null: could not be checked. */
        passed: boolean | null;
        message: string;
      })[];
    } | null;
    /** When DNS is checked next by itself. */
    nextCheckAt: string | null;
    /** When it was added. */
    createdAt: string;
    /** When its DNS was last found right. */
    verifiedAt: string | null;
  };
  Domains: (Schemas["Domain"])[];
  NewDomain: {
    /** A domain or subdomain, such as `www.example.com`; IDN in either form. */
    hostname: string;
  };
  DomainPatch: {
    /** Makes it the project's primary name; another one is no longer. */
    primary?: boolean;
    /** Where the name redirects to, path and query kept; null ends it. */
    redirect?: {
      to?: string;
      /** 301, 302, 307 or 308; 301 unless told. */
      status?: number;
    } | null;
  };
  RemovedDomain: {
    hostname: string;
    /** What is left to do at the registrar. */
    warning: string;
  };
};

export type paths = {
  "/pets": {
    /** listPets: List animals */
    get: {
      parameters: {
        query?: {
          /** Only animals with this status. */
          status?: "available" | "pending" | "sold";
          /** Only animals of this category. */
          categoryId?: number;
          /** Only animals with these identifiers; may be repeated. */
          id?: (number)[];
          /** Only animals whose name begins with this text, in any case. The order is then by name: `name` or `-name`. */
          q?: string;
          /** The order; ties are ordered by `id`. */
          sort?: "id" | "-id" | "name" | "-name";
          /** How many to answer at most. */
          limit?: number;
          /** Where the page begins: taken from the `Link` header of the page before, with the same filters and sort. */
          cursor?: string;
        };
        header?: {
          /** An ETag that you have: the answer is 304 while it is still current. */
          "If-None-Match"?: string;
          /** The ETag that the resource must have; otherwise 412. */
          "If-Match"?: string;
        };
      };
      responses: {
        200: Json<Schemas["Pets"]>;
        304: Empty;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** createPet: Create an animal */
    post: {
      parameters: {
        header?: {
          /** Makes the request safe to repeat for 24 hours: a replay gets the first answer. */
          "Idempotency-Key"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["NewPet"];
      } };
      responses: {
        201: Json<Schemas["Pet"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        413: Json<Schemas["Error"]>;
        415: Json<Schemas["Error"]>;
        422: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/pets/batch": {
    /** createPetsBatch: Create many animals */
    post: {
      parameters: {
        header?: {
          /** Makes the request safe to repeat for 24 hours: a replay gets the first answer. */
          "Idempotency-Key"?: string;
        };
      };
      requestBody: { content: {
        "application/json": (Schemas["NewPet"])[];
      } };
      responses: {
        201: Json<Schemas["Pets"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        413: Json<Schemas["Error"]>;
        415: Json<Schemas["Error"]>;
        422: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/pets/{petId}": {
    /** getPet: Get an animal @deprecated */
    get: {
      parameters: {
        path: {
          /** The animal's identifier. */
          petId: number;
        };
        header?: {
          /** An ETag that you have: the answer is 304 while it is still current. */
          "If-None-Match"?: string;
          /** The ETag that the resource must have; otherwise 412. */
          "If-Match"?: string;
        };
      };
      responses: {
        200: Json<Schemas["Pet"]>;
        304: Empty;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        410: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** replacePet: Replace an animal */
    put: {
      parameters: {
        path: {
          /** The animal's identifier. */
          petId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["NewPet"];
      } };
      responses: {
        200: Json<Schemas["Pet"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        413: Json<Schemas["Error"]>;
        415: Json<Schemas["Error"]>;
        422: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** updatePet: Update an animal */
    patch: {
      parameters: {
        path: {
          /** The animal's identifier. */
          petId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
        };
      };
      requestBody: { content: {
        "application/merge-patch+json": Schemas["PetPatch"];
        "application/json": Schemas["PetPatch"];
      } };
      responses: {
        200: Json<Schemas["Pet"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        413: Json<Schemas["Error"]>;
        415: Json<Schemas["Error"]>;
        422: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** deletePet: Delete an animal */
    delete: {
      parameters: {
        path: {
          /** The animal's identifier. */
          petId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
        };
      };
      responses: {
        204: Empty;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/categories": {
    /** listCategories: List categories */
    get: {
      parameters: {
        query?: {
          /** How many to answer at most. */
          limit?: number;
          /** Where the page begins: taken from the `Link` header of the page before, with the same filters and sort. */
          cursor?: string;
        };
      };
      responses: {
        200: Json<Schemas["Categories"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** createCategory: Create a category */
    post: {
      parameters: {
        header?: {
          /** Makes the request safe to repeat for 24 hours: a replay gets the first answer. */
          "Idempotency-Key"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["NewCategory"];
      } };
      responses: {
        201: Json<Schemas["Category"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        413: Json<Schemas["Error"]>;
        415: Json<Schemas["Error"]>;
        422: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/categories/{categoryId}": {
    /** getCategory: Get a category */
    get: {
      parameters: {
        path: {
          /** The category's identifier. */
          categoryId: number;
        };
        header?: {
          /** An ETag that you have: the answer is 304 while it is still current. */
          "If-None-Match"?: string;
          /** The ETag that the resource must have; otherwise 412. */
          "If-Match"?: string;
        };
      };
      responses: {
        200: Json<Schemas["Category"]>;
        304: Empty;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** replaceCategory: Replace a category */
    put: {
      parameters: {
        path: {
          /** The category's identifier. */
          categoryId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["NewCategory"];
      } };
      responses: {
        200: Json<Schemas["Category"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        413: Json<Schemas["Error"]>;
        415: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** updateCategory: Update a category */
    patch: {
      parameters: {
        path: {
          /** The category's identifier. */
          categoryId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
        };
      };
      requestBody: { content: {
        "application/merge-patch+json": Schemas["CategoryPatch"];
        "application/json": Schemas["CategoryPatch"];
      } };
      responses: {
        200: Json<Schemas["Category"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        413: Json<Schemas["Error"]>;
        415: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** deleteCategory: Delete a category */
    delete: {
      parameters: {
        path: {
          /** The category's identifier. */
          categoryId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
        };
      };
      responses: {
        204: Empty;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/store/orders": {
    /** listOrders: List orders */
    get: {
      parameters: {
        query?: {
          /** Only orders of this animal. */
          petId?: number;
          /** Only orders that are fulfilled, or that are not. */
          complete?: boolean;
          /** How many to answer at most. */
          limit?: number;
          /** Where the page begins: taken from the `Link` header of the page before, with the same filters and sort. */
          cursor?: string;
        };
      };
      responses: {
        200: Json<Schemas["Orders"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** createOrder: Place an order */
    post: {
      parameters: {
        header?: {
          /** Makes the request safe to repeat for 24 hours: a replay gets the first answer. */
          "Idempotency-Key"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["Order"];
      } };
      responses: {
        201: Json<Schemas["Order"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        413: Json<Schemas["Error"]>;
        415: Json<Schemas["Error"]>;
        422: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/store/orders/{orderId}": {
    /** getOrder: Get an order */
    get: {
      parameters: {
        path: {
          /** The order's identifier. */
          orderId: number;
        };
        header?: {
          /** An ETag that you have: the answer is 304 while it is still current. */
          "If-None-Match"?: string;
          /** The ETag that the resource must have; otherwise 412. */
          "If-Match"?: string;
        };
      };
      responses: {
        200: Json<Schemas["Order"]>;
        304: Empty;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** replaceOrder: Replace an order */
    put: {
      parameters: {
        path: {
          /** The order's identifier. */
          orderId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["Order"];
      } };
      responses: {
        200: Json<Schemas["Order"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        413: Json<Schemas["Error"]>;
        415: Json<Schemas["Error"]>;
        422: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** updateOrder: Update an order */
    patch: {
      parameters: {
        path: {
          /** The order's identifier. */
          orderId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
        };
      };
      requestBody: { content: {
        "application/merge-patch+json": Schemas["OrderPatch"];
        "application/json": Schemas["OrderPatch"];
      } };
      responses: {
        200: Json<Schemas["Order"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        413: Json<Schemas["Error"]>;
        415: Json<Schemas["Error"]>;
        422: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** deleteOrder: Cancel an order */
    delete: {
      parameters: {
        path: {
          /** The order's identifier. */
          orderId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
        };
      };
      responses: {
        204: Empty;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/store/inventory": {
    /** listInventory: List the inventory */
    get: {
      parameters: {
        query?: {
          /** Only entries with this status. */
          status?: "available" | "pending" | "sold";
          /** Only the entries of these animals; may be repeated. */
          petId?: (number)[];
          /** How many to answer at most. */
          limit?: number;
          /** Where the page begins: taken from the `Link` header of the page before, with the same filters and sort. */
          cursor?: string;
        };
      };
      responses: {
        200: Json<Schemas["InventoryItems"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/store/inventory/{petId}": {
    /** getInventoryItem: Get an inventory entry */
    get: {
      parameters: {
        path: {
          /** The identifier of the animal that the entry tracks. */
          petId: number;
        };
        header?: {
          /** An ETag that you have: the answer is 304 while it is still current. */
          "If-None-Match"?: string;
          /** The ETag that the resource must have; otherwise 412. */
          "If-Match"?: string;
        };
      };
      responses: {
        200: Json<Schemas["InventoryItem"]>;
        304: Empty;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** replaceInventoryItem: Set a stock count */
    put: {
      parameters: {
        path: {
          /** The identifier of the animal that the entry tracks. */
          petId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["InventoryUpdate"];
      } };
      responses: {
        200: Json<Schemas["InventoryItem"]>;
        201: Json<Schemas["InventoryItem"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        413: Json<Schemas["Error"]>;
        415: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** deleteInventoryItem: Stop tracking an animal */
    delete: {
      parameters: {
        path: {
          /** The identifier of the animal that the entry tracks. */
          petId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
        };
      };
      responses: {
        204: Empty;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/store/inventory/{petId}/adjustments": {
    /** adjustInventoryItem: Adjust a stock count */
    post: {
      parameters: {
        path: {
          /** The identifier of the animal that the entry tracks. */
          petId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
          /** Makes the request safe to repeat for 24 hours: a replay gets the first answer. */
          "Idempotency-Key"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["InventoryAdjustment"];
      } };
      responses: {
        200: Json<Schemas["InventoryItem"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        413: Json<Schemas["Error"]>;
        415: Json<Schemas["Error"]>;
        422: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/account": {
    /** getAccount: Get the account */
    get: {
      parameters: {};
      responses: {
        200: Json<Schemas["Account"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/usage": {
    /** getUsage: Get the usage */
    get: {
      parameters: {
        query?: {
          /** `minute`: the last hour; `hour`: the last 7 days; `day`: the last 90 days. */
          interval?: "minute" | "hour" | "day";
          /** Tells requests apart by key or by operation as well. */
          groupBy?: "none" | "key" | "operation";
        };
      };
      responses: {
        200: Json<Schemas["Usage"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/projects": {
    /** listProjects: List projects */
    get: {
      parameters: {
        query?: {
          /** How many to answer at most. */
          limit?: number;
          /** Where the page begins: taken from the `Link` header of the page before, with the same filters and sort. */
          cursor?: string;
        };
      };
      responses: {
        200: Json<Schemas["Projects"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** createProject: Create a project */
    post: {
      parameters: {
        header?: {
          /** Makes the request safe to repeat for 24 hours: a replay gets the first answer. */
          "Idempotency-Key"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["NewProject"];
      } };
      responses: {
        201: Json<Schemas["Project"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        413: Json<Schemas["Error"]>;
        415: Json<Schemas["Error"]>;
        422: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/projects/{projectId}": {
    /** getProject: Get a project */
    get: {
      parameters: {
        path: {
          /** The project's identifier. */
          projectId: number;
        };
        header?: {
          /** An ETag that you have: the answer is 304 while it is still current. */
          "If-None-Match"?: string;
          /** The ETag that the resource must have; otherwise 412. */
          "If-Match"?: string;
        };
      };
      responses: {
        200: Json<Schemas["Project"]>;
        304: Empty;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** updateProject: Update a project */
    patch: {
      parameters: {
        path: {
          /** The project's identifier. */
          projectId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
        };
      };
      requestBody: { content: {
        "application/merge-patch+json": Schemas["ProjectPatch"];
        "application/json": Schemas["ProjectPatch"];
      } };
      responses: {
        200: Json<Schemas["Project"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        413: Json<Schemas["Error"]>;
        415: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** deleteProject: Delete a project */
    delete: {
      parameters: {
        path: {
          /** The project's identifier. */
          projectId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
        };
      };
      responses: {
        204: Empty;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/projects/{projectId}/deployments": {
    /** listDeployments: List deployments */
    get: {
      parameters: {
        path: {
          /** The project's identifier. */
          projectId: number;
        };
        query?: {
          /** How many to answer at most. */
          limit?: number;
          /** Where the page begins: taken from the `Link` header of the page before, with the same filters and sort. */
          cursor?: string;
        };
      };
      responses: {
        200: Json<Schemas["Deployments"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** createDeployment: Deploy */
    post: {
      parameters: {
        path: {
          /** The project's identifier. */
          projectId: number;
        };
        header?: {
          /** Makes the request safe to repeat for 24 hours: a replay gets the first answer. */
          "Idempotency-Key"?: string;
        };
      };
      requestBody: { content: {
        "application/gzip": string;
      } };
      responses: {
        202: Json<Schemas["Deployment"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        413: Json<Schemas["Error"]>;
        415: Json<Schemas["Error"]>;
        422: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/projects/{projectId}/deployments/{deploymentId}": {
    /** getDeployment: Get a deployment */
    get: {
      parameters: {
        path: {
          /** The project's identifier. */
          projectId: number;
          /** The deployment's identifier. */
          deploymentId: number;
        };
        header?: {
          /** An ETag that you have: the answer is 304 while it is still current. */
          "If-None-Match"?: string;
          /** The ETag that the resource must have; otherwise 412. */
          "If-Match"?: string;
        };
      };
      responses: {
        200: Json<Schemas["Deployment"]>;
        304: Empty;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/projects/{projectId}/deployments/{deploymentId}/promote": {
    /** promoteDeployment: Promote a deployment */
    post: {
      parameters: {
        path: {
          /** The project's identifier. */
          projectId: number;
          /** The deployment's identifier. */
          deploymentId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
          /** Makes the request safe to repeat for 24 hours: a replay gets the first answer. */
          "Idempotency-Key"?: string;
        };
      };
      responses: {
        200: Json<Schemas["Deployment"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        422: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/projects/{projectId}/domains": {
    /** listDomains: List domains */
    get: {
      parameters: {
        path: {
          /** The project's identifier. */
          projectId: number;
        };
        query?: {
          /** How many to answer at most. */
          limit?: number;
          /** Where the page begins: taken from the `Link` header of the page before, with the same filters and sort. */
          cursor?: string;
        };
      };
      responses: {
        200: Json<Schemas["Domains"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** addDomain: Add a domain */
    post: {
      parameters: {
        path: {
          /** The project's identifier. */
          projectId: number;
        };
        header?: {
          /** Makes the request safe to repeat for 24 hours: a replay gets the first answer. */
          "Idempotency-Key"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["NewDomain"];
      } };
      responses: {
        201: Json<Schemas["Domain"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        413: Json<Schemas["Error"]>;
        415: Json<Schemas["Error"]>;
        422: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/projects/{projectId}/domains/{hostname}": {
    /** getDomain: Get a domain */
    get: {
      parameters: {
        path: {
          /** The project's identifier. */
          projectId: number;
          /** The domain's host name. */
          hostname: string;
        };
        header?: {
          /** An ETag that you have: the answer is 304 while it is still current. */
          "If-None-Match"?: string;
          /** The ETag that the resource must have; otherwise 412. */
          "If-Match"?: string;
        };
      };
      responses: {
        200: Json<Schemas["Domain"]>;
        304: Empty;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** updateDomain: Update a domain */
    patch: {
      parameters: {
        path: {
          /** The project's identifier. */
          projectId: number;
          /** The domain's host name. */
          hostname: string;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
        };
      };
      requestBody: { content: {
        "application/merge-patch+json": Schemas["DomainPatch"];
        "application/json": Schemas["DomainPatch"];
      } };
      responses: {
        200: Json<Schemas["Domain"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        413: Json<Schemas["Error"]>;
        415: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** removeDomain: Remove a domain */
    delete: {
      parameters: {
        path: {
          /** The project's identifier. */
          projectId: number;
          /** The domain's host name. */
          hostname: string;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
        };
      };
      responses: {
        200: Json<Schemas["RemovedDomain"]>;
        204: Empty;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/projects/{projectId}/domains/{hostname}/verify": {
    /** verifyDomain: Verify a domain */
    post: {
      parameters: {
        path: {
          /** The project's identifier. */
          projectId: number;
          /** The domain's host name. */
          hostname: string;
        };
        header?: {
          /** Makes the request safe to repeat for 24 hours: a replay gets the first answer. */
          "Idempotency-Key"?: string;
        };
      };
      responses: {
        200: Json<Schemas["Domain"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        422: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
};
