// Made from openapi.json by `npm run description`.

type Json<T> = { content: { readonly "application/json": T } };
type Empty = { content?: never };

export type Schemas = {
  ErrorDetail: {
    /** Where the value is: `body.name`, `query.limit`, `path.petId`, `header.Idempotency-Key`, or the whole `body` or `request`. */
    path: string;
    /** What is wrong with it. */
    message: string;
  };
  ChallengeType: "TXT";
  DomainChallenge: {
    type: Schemas["ChallengeType"];
    name: string;
    value: string;
  };
  Error: {
    /** Machine-readable error code. */
    code: "invalid_request" | "unauthorized" | "forbidden" | "confirmation_required" | "plan_required" | "storage_limit_reached" | "not_found" | "method_not_allowed" | "not_acceptable" | "pet_in_use" | "pet_not_available" | "insufficient_stock" | "order_complete" | "reservation_ended" | "category_exists" | "category_not_empty" | "slug_taken" | "domain_taken" | "status_follows_stock" | "member_exists" | "import_closed" | "key_replaced" | "project_not_deployed" | "deployment_not_ready" | "domain_not_verified" | "idempotency_key_in_use" | "operation_sunset" | "events_expired" | "precondition_failed" | "session_changed" | "payload_too_large" | "unsupported_media_type" | "unknown_reference" | "idempotency_key_reused" | "rate_limit_exceeded" | "key_banned" | "headers_too_large" | "internal" | "unavailable";
    /** Human-readable description. */
    message: string;
    /** The HTTP status code. */
    status: number;
    /** With a 400 or 422: the values that were refused, at most 20. */
    details?: (Schemas["ErrorDetail"])[];
    /** With `domain_taken`, where another account has the name: the DNS record that proves that it is yours. Create it, then add the name again. */
    challenge?: Schemas["DomainChallenge"];
  };
  PetStatus: "available" | "pending" | "sold";
  Pet: {
    /** Unique identifier assigned on creation. */
    id: number;
    /** The pet's name. */
    name: string;
    /** ID of the category the pet belongs to. */
    categoryId: number;
    status: Schemas["PetStatus"];
  };
  Pets: (Schemas["Pet"])[];
  NewPet: {
    /** The pet's name. */
    name: string;
    /** ID of the category the pet belongs to. */
    categoryId: number;
    /** Default: `available`. */
    status?: Schemas["PetStatus"] | null;
  };
  NewPets: (Schemas["NewPet"])[];
  PetPatch: {
    /** The pet's name. */
    name?: string;
    /** ID of the category the pet belongs to. */
    categoryId?: number;
    status?: Schemas["PetStatus"] | null;
  };
  Price: {
    /** In minor units: 4900 is 49.00 EUR. */
    amount: number;
    /** ISO 4217, such as `EUR`. */
    currency: string;
  };
  OwnFact: {
    /** Such as `House-trained`. */
    name: string;
    /** Such as `Yes`. */
    value: string;
  };
  Facts: {
    /** Such as `Dog`. */
    species?: string;
    /** Such as `Beagle`. */
    breed?: string;
    /** Such as `Female`. */
    sex?: string;
    /** The date or the year of birth, such as `2024-05-17` or `2024`. */
    born?: string;
    /** Such as `Black and white`. */
    colour?: string;
    /** Such as `Small`. */
    size?: string;
    /** Further facts, which are shown and not searched. */
    own?: (Schemas["OwnFact"])[];
  };
  Focus: {
    /** Percent from the left edge. */
    x: number;
    /** Percent from the top edge. */
    y: number;
  };
  PhotoSource: {
    url: string;
    type: string;
    width: number;
    height: number;
  };
  Photo: {
    /** Unique identifier assigned on upload. */
    id: number;
    /** What the photo shows, for people who cannot see it. */
    alt: string;
    focus?: Schemas["Focus"];
    /** Width in pixels of the picture at `url`. */
    width: number;
    height: number;
    /** The largest WebP picture. */
    url: string;
    /** The photo in each format and size. */
    sources: (Schemas["PhotoSource"])[];
  };
  Profile: {
    /** The pet that it describes. */
    petId: number;
    /** A text for buyers. */
    description?: string;
    price?: Schemas["Price"];
    facts?: Schemas["Facts"];
    /** In display order. */
    photos: (Schemas["Photo"])[];
  };
  PriceInput: {
    /** In minor units: 4900 is 49.00 EUR. */
    amount: number;
    /** ISO 4217, such as `EUR`. */
    currency: string;
  };
  OwnFactInput: {
    /** Such as `House-trained`. */
    name: string;
    /** Such as `Yes`. */
    value: string;
  };
  FactsInput: {
    /** Such as `Dog`. */
    species?: string | null;
    /** Such as `Beagle`. */
    breed?: string | null;
    /** Such as `Female`. */
    sex?: string | null;
    /** The date or the year of birth, such as `2024-05-17` or `2024`. */
    born?: string | null;
    /** Such as `Black and white`. */
    colour?: string | null;
    /** Such as `Small`. */
    size?: string | null;
    /** Further facts, which are shown and not searched. */
    own?: (Schemas["OwnFactInput"])[] | null;
  };
  FocusInput: {
    /** Percent from the left edge. */
    x: number;
    /** Percent from the top edge. */
    y: number;
  };
  PhotoSourceInput: {
    url: string;
    type: string;
    width: number;
    height: number;
  };
  PhotoOrder: {
    /** A photo of the profile. */
    id: number;
    /** If it is left out, the alternative text stays as it is. */
    alt?: string | null;
    /** The point that stays in view where the photo is cropped. */
    focus?: Schemas["FocusInput"] | null;
    width?: number | null;
    height?: number | null;
    url?: string | null;
    sources?: (Schemas["PhotoSourceInput"])[] | null;
  };
  ProfileInput: {
    /** A text for buyers. */
    description?: string | null;
    price?: Schemas["PriceInput"] | null;
    facts?: Schemas["FactsInput"] | null;
    /** The photos to keep, in display order; all others are deleted. If this field is left out, all photos stay as they are. */
    photos?: (Schemas["PhotoOrder"])[] | null;
  };
  PricePatch: {
    /** In minor units: 4900 is 49.00 EUR. */
    amount?: number | null;
    /** ISO 4217, such as `EUR`. */
    currency?: string | null;
  };
  FactsPatch: {
    /** Such as `Dog`. */
    species?: string | null;
    /** Such as `Beagle`. */
    breed?: string | null;
    /** Such as `Female`. */
    sex?: string | null;
    /** The date or the year of birth, such as `2024-05-17` or `2024`. */
    born?: string | null;
    /** Such as `Black and white`. */
    colour?: string | null;
    /** Such as `Small`. */
    size?: string | null;
    /** Further facts, which are shown and not searched. */
    own?: (Schemas["OwnFactInput"])[] | null;
  };
  ProfilePatch: {
    /** A text for buyers. */
    description?: string | null;
    /** Members that are left out stay as they are. */
    price?: Schemas["PricePatch"] | null;
    /** Facts that are left out stay as they are. */
    facts?: Schemas["FactsPatch"] | null;
    /** The photos to keep, in display order; all others are deleted. If this field is left out, all photos stay as they are. */
    photos?: (Schemas["PhotoOrder"])[];
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
    description?: string | null;
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
    /** ID of the pet in the order. An order without it is a draft. */
    petId?: number;
    /** Number of units ordered. Default: `1`. */
    quantity?: number;
    /** Expected or actual ship date, ISO 8601. */
    shipDate?: string;
    /** Whether the order has been fulfilled. Default: `false`. */
    complete?: boolean;
  };
  Orders: (Schemas["Order"])[];
  OrderInput: {
    /** Unique order identifier. */
    id?: number | null;
    /** ID of the pet in the order. An order without it is a draft. */
    petId?: number | null;
    /** Number of units ordered. Default: `1`. */
    quantity?: number | null;
    /** Expected or actual ship date, ISO 8601. */
    shipDate?: string | null;
    /** Whether the order has been fulfilled. Default: `false`. */
    complete?: boolean | null;
  };
  OrderPatch: {
    /** Unique order identifier. */
    id?: number;
    /** ID of the pet in the order. An order without it is a draft. */
    petId?: number | null;
    /** Number of units ordered. */
    quantity?: number | null;
    /** Expected or actual ship date, ISO 8601. */
    shipDate?: string | null;
    /** Whether the order has been fulfilled. */
    complete?: boolean | null;
  };
  Contact: {
    /** The customer's name. */
    name?: string;
    /** The customer's email address. */
    email?: string;
    /** The customer's telephone number. */
    phone?: string;
    /** Where the order goes. */
    address?: string;
    /** What else was agreed. */
    note?: string;
  };
  ContactInput: {
    /** The customer's name. */
    name?: string | null;
    /** The customer's email address. */
    email?: string | null;
    /** The customer's telephone number. */
    phone?: string | null;
    /** Where the order goes. */
    address?: string | null;
    /** What else was agreed. */
    note?: string | null;
  };
  ReservationState: "open" | "accepted" | "refused" | "lapsed" | "cancelled";
  Reservation: {
    id: number;
    petId: number;
    /** The order that holds the unit; none for an enquiry. */
    orderId?: number;
    state: Schemas["ReservationState"];
    createdAt: string;
    lapsesAt?: string;
    endedAt?: string;
    contact?: Schemas["Contact"];
  };
  Reservations: (Schemas["Reservation"])[];
  ContactInputInput: {
    /** The customer's name. */
    name?: string;
    /** The customer's email address. */
    email?: string;
    /** The customer's telephone number. */
    phone?: string;
    /** Where the order goes. */
    address?: string;
    /** What else was agreed. */
    note?: string;
  };
  ReservationPatch: {
    state?: Schemas["ReservationState"];
    lapsesAt?: string;
    contact?: Schemas["ContactInputInput"] | null;
  };
  InventoryItem: {
    /** ID of the pet the entry tracks. */
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
    /** Units to add; a negative number subtracts. */
    delta: number;
  };
  ImportStatus: "open" | "finished" | "undoing" | "undone";
  ImportActorType: "key" | "member" | "operator" | "system";
  ImportActor: {
    type: Schemas["ImportActorType"];
    id: number | null;
  };
  FailedPhoto: {
    /** The pet. */
    petId: number;
    /** The address. */
    url: string;
    /** Why it could not be fetched. */
    reason: string;
  };
  ImportPhotosFailed: {
    /** How many photos could not be fetched. */
    count: number;
    /** The first 20. */
    photos: (Schemas["FailedPhoto"])[];
  };
  StayingPet: {
    /** The pet. */
    petId: number;
    /** Why it stays as it is. */
    reason: string;
  };
  ImportStays: {
    /** How many pets the undo left as they are, whole or in part. */
    count: number;
    /** The first 100. */
    pets: (Schemas["StayingPet"])[];
  };
  Import: {
    /** Unique identifier assigned on creation. */
    id: number;
    /** Where the animals come from. */
    source: string;
    /** The name of the file. */
    fileName: string;
    status: Schemas["ImportStatus"];
    /** Rows that made a pet. */
    created: number;
    /** Rows that changed a pet. */
    updated: number;
    /** Rows that changed nothing. */
    unchanged: number;
    /** Rows of the file that the client did not send. */
    rejected: number;
    /** When it began. */
    startedAt: string;
    /** When it took its last row. */
    finishedAt?: string;
    /** When its undo ended. */
    undoneAt?: string;
    by: Schemas["ImportActor"];
    photosFailed?: Schemas["ImportPhotosFailed"];
    /** How many pets the undo has gone through so far. */
    undone?: number;
    stays?: Schemas["ImportStays"];
  };
  Imports: (Schemas["Import"])[];
  ImportInput: {
    /** Where the animals come from, such as `Shelter register`. It is the same for each export of one system; case does not count. */
    source: string;
    /** The name of the file, for people. */
    fileName: string;
    /** Categories that the rows need. Those that are missing are created, and an undo deletes them if they are empty. */
    categories?: (string)[] | null;
  };
  ImportedProfile: {
    /** A text for buyers. */
    description?: string | null;
    price?: Schemas["PriceInput"] | null;
    facts?: Schemas["FactsInput"] | null;
    /** Addresses of photos, which the service fetches afterwards and adds to those of the pet. */
    photos?: (string)[] | null;
  };
  ImportRow: {
    /** The source's own identifier of the animal. */
    sourceId: string;
    pet: Schemas["NewPet"];
    /** The stock count. Default: the stock stays as it is, but it becomes 0 if this row is not `available` and the stock is still what an earlier row said. */
    quantity?: number | null;
    /** The row's pet, if the client knows it. A `sourceId` that is new to the source then counts as imported before, so nothing is written, unless the row has `previous`. */
    petId?: number | null;
    /** The pet `petId` as it was before somebody edited the row. Only values that differ from it are written, and the row makes no pet. */
    previous?: Schemas["NewPet"] | null;
    profile?: Schemas["ImportedProfile"] | null;
  };
  ImportRows: (Schemas["ImportRow"])[];
  ImportOutcome: "created" | "updated" | "unchanged";
  ImportedRow: {
    /** As in the request. */
    sourceId: string;
    /** The pet. */
    petId: number;
    outcome: Schemas["ImportOutcome"];
  };
  ImportedRows: (Schemas["ImportedRow"])[];
  EventType: "pet.created" | "pet.updated" | "pet.deleted" | "pet.profile_updated" | "category.created" | "category.updated" | "category.deleted" | "order.created" | "order.updated" | "order.completed" | "order.cancelled" | "reservation.created" | "reservation.updated" | "reservation.accepted" | "reservation.refused" | "reservation.lapsed" | "reservation.cancelled" | "inventory.updated" | "inventory.deleted" | "inventory.low" | "inventory.out" | "project.created" | "project.updated" | "project.deleted" | "deployment.ready" | "deployment.failed" | "deployment.promoted" | "domain.added" | "domain.verified" | "domain.failing" | "domain.attention" | "domain.removed" | "certificate.issued" | "certificate.renewed" | "certificate.failing" | "key.created" | "key.rotated" | "key.revoked" | "key.banned" | "key.unbanned" | "webhook.created" | "webhook.updated" | "webhook.deleted" | "webhook.disabled" | "member.invited" | "member.signed_in" | "member.updated" | "member.reset" | "member.removed" | "member.exported" | "account.plan_changed" | "account.updated" | "limit.reached" | "import.finished" | "import.undone";
  ActorType: "key" | "member" | "operator" | "system";
  EventActor: {
    type: Schemas["ActorType"];
    id: number | null;
  };
  EventResource: {
    type: "pet" | "category" | "order" | "reservation" | "inventory" | "import" | "project" | "deployment" | "domain" | "certificate" | "key" | "webhook" | "member" | "account";
    id: number | string;
  };
  Event: {
    /** The event's place in the account's log, without gaps. */
    position: number;
    /** Unique identifier of the event. */
    id: string;
    type: Schemas["EventType"];
    /** When it happened. */
    at: string;
    actor: Schemas["EventActor"];
    /** The `X-Request-Id` of the request. */
    requestId: string | null;
    resource: Schemas["EventResource"];
    /** The resource after the change; its last state if it is gone. */
    data: Record<string, unknown>;
    /** The fields that changed, as they were. */
    previous: Record<string, unknown>;
    /** SHA-256 of the previous event's hash, LF, and this event without `hash` (RFC 8785). */
    hash: string;
  };
  Events: (Schemas["Event"])[];
  EventsOldest: {
    /** The event's place in the account's log, without gaps. */
    position: number;
    /** The hash of the event before it. */
    previousHash: string;
  };
  EventsCheckpoint: {
    /** 0 before the first event. */
    position: number;
    /** The hash of the event at this position. */
    hash: string;
    oldest: Schemas["EventsOldest"];
  };
  Plan: "free" | "pro" | "business" | "enterprise";
  LimitWindow: {
    /** Requests that the account may make in the UTC window. */
    limit: number;
    /** Requests used, including this one. */
    used: number;
    /** Requests left. */
    remaining: number;
    /** When the window ends. */
    resetAt: string;
  };
  StorageUse: {
    /** How much the account may store. */
    limit: number;
    /** How much the account stores now. */
    used: number;
    /** How much more the account may store; 0 if it stores more than the limit. */
    remaining: number;
  };
  KeyStrikes: {
    /** The key that the request was made with. */
    id: number;
    /** Requests over a limit within the last minute. */
    strikes: number;
    /** Strikes left before the key is banned. */
    strikesRemaining: number;
  };
  Ban: {
    /** A key of the account that is banned. */
    keyId: number;
    /** When its ban ends. */
    until: string;
  };
  Account: {
    /** Unique identifier of the account. */
    id: number;
    /** The account's name. */
    name: string;
    /** The plan that the limits come from. */
    plan: Schemas["Plan"];
    minute: Schemas["LimitWindow"];
    day: Schemas["LimitWindow"];
    /** Pets, categories, and orders that are not complete. Additions beyond the limit are refused. */
    records: Schemas["StorageUse"];
    /** The files of the deployments that are kept, unpacked, in bytes. A file that several of them have counts once. Deployments beyond the limit fail or are refused. */
    publishedBytes: Schemas["StorageUse"];
    /** The events that are kept, in bytes: the text of each, and 256. Beyond the limit the oldest are deleted, those of the audit only for others of the audit. */
    eventBytes: Schemas["StorageUse"];
    key?: Schemas["KeyStrikes"];
    /** The free units at or below which the stock of a pet is low. */
    lowStock: number;
    /** ISO 4217: what new prices begin with. Null until an owner chooses one. */
    currency: string | null;
    /** The bans in force, by key. A banned key cannot make this request; another key of the account can. */
    bans: (Schemas["Ban"])[];
  };
  UsageInterval: "minute" | "hour" | "day";
  UsageGrouping: "none" | "key" | "operation";
  UsagePoint: {
    /** When the interval began. */
    start: string;
    /** Requests that passed the limits. */
    requests: number;
    /** Requests refused because a limit was reached. */
    refused: number;
    /** Requests refused because the key was banned. */
    banned: number;
  };
  UsageGroup: {
    /** The key, if `groupBy` is `key`. */
    keyId?: number;
    /** The operation, if `groupBy` is `operation`; `other` for paths and methods that do not exist. */
    operation?: string;
    /** Requests that passed the limits. */
    requests: number;
    /** Requests refused because a limit was reached. */
    refused: number;
    /** Requests refused because the key was banned. */
    banned: number;
    /** The intervals that had requests, oldest first; those without any are left out. */
    points: (Schemas["UsagePoint"])[];
  };
  Usage: {
    /** The length of one interval. */
    interval: Schemas["UsageInterval"];
    /** When the oldest interval began. */
    from: string;
    /** When the running interval ends. */
    to: string;
    /** The intervals that had requests, oldest first; those without any are left out. */
    points: (Schemas["UsagePoint"])[];
    /** Pets, categories, and orders that are not complete. Additions beyond the limit are refused. */
    records: Schemas["StorageUse"];
    /** The files of the deployments that are kept, unpacked, in bytes. A file that several of them have counts once. Deployments beyond the limit fail or are refused. */
    publishedBytes: Schemas["StorageUse"];
    /** The events that are kept, in bytes: the text of each, and 256. Beyond the limit the oldest are deleted, those of the audit only for others of the audit. */
    eventBytes: Schemas["StorageUse"];
    /** The keys or operations with the most requests, at most 50, those with the most first. Only with `groupBy`. */
    groups?: (Schemas["UsageGroup"])[];
  };
  Key: {
    /** Unique identifier of the key. */
    id: number;
    /** The key's name. */
    name: string;
    /** Whether it is for web pages. */
    publishable: boolean;
    /** What it may do. */
    scopes: ("catalogue:read" | "catalogue:write" | "orders:read" | "orders:write" | "inventory:read" | "inventory:write" | "publishing:read" | "publishing:write" | "events:read" | "webhooks:read" | "webhooks:write" | "account:read" | "contacts:read" | "contacts:write" | "keys:read" | "keys:write")[];
    /** The web origins that may use it; empty: any. */
    origins: (string)[];
    /** When it expires. */
    expiresAt: string | null;
    /** The key that it replaced. */
    replaces: number | null;
    /** How the key begins. */
    prefix: string;
    /** When it was created. */
    createdAt: string;
    /** When it was last used, to the minute. */
    lastUsedAt: string | null;
    /** Requests over a limit within the last minute. */
    strikes: number;
    /** Strikes left before the key is banned. */
    strikesRemaining: number;
    /** When its ban ends, or that of a key that made it. */
    bannedUntil: string | null;
  };
  Keys: (Schemas["Key"])[];
  KeyScope: "catalogue:read" | "catalogue:write" | "orders:read" | "orders:write" | "inventory:read" | "inventory:write" | "publishing:read" | "publishing:write" | "events:read" | "webhooks:read" | "webhooks:write" | "account:read" | "contacts:read" | "contacts:write" | "keys:read" | "keys:write";
  KeyInput: {
    /** The key's name. Default: `Key` and its id. */
    name?: string | null;
    /** What it may do, such as `orders:read`. Default: all that the caller may give; never those of `keys` or `contacts`. */
    scopes?: (Schemas["KeyScope"])[] | null;
    /** A date, or a date and time such as `2027-01-31T12:00:00Z`, after which it no longer works. Default: never, or with the key that makes it. */
    expires?: string | null;
    /** Whether it is for web pages. Default: false. */
    publishable?: boolean | null;
    /** The web origins, such as `https://shop.example`, that a publishable key is bound to. Default: none. */
    origins?: (string)[] | null;
  };
  PreviousKey: {
    /** The key that was rotated. */
    id: number;
    /** When that one expires. */
    expiresAt: string;
  };
  CreatedKey: {
    /** Unique identifier of the key. */
    id: number;
    /** The key's name. */
    name: string;
    /** Whether it is for web pages. */
    publishable: boolean;
    /** What it may do. */
    scopes: ("catalogue:read" | "catalogue:write" | "orders:read" | "orders:write" | "inventory:read" | "inventory:write" | "publishing:read" | "publishing:write" | "events:read" | "webhooks:read" | "webhooks:write" | "account:read" | "contacts:read" | "contacts:write" | "keys:read" | "keys:write")[];
    /** The web origins that may use it; empty: any. */
    origins: (string)[];
    /** When it expires. */
    expiresAt: string | null;
    /** The key that it replaced. */
    replaces: number | null;
    /** The key, in the first answer only. */
    key?: string;
    /** In a replay: why `key` is missing. */
    notice?: string;
    previous?: Schemas["PreviousKey"];
  };
  KeyRotation: {
    /** How long the old key still works. Default: `24`. */
    overlapHours?: number | null;
  };
  RedirectStatus: 301 | 302 | 307 | 308;
  ProjectRedirect: {
    /** The name that redirects. */
    from: string;
    /** The target of the redirect. */
    to: string;
    status: Schemas["RedirectStatus"];
  };
  ProjectDomains: {
    /** The primary name. It takes effect once it is verified and has a certificate: then it is `url`, and the project's other names answer with `Link: <…>; rel="canonical"` to it. */
    primary: string | null;
    /** The redirects, ordered by `from`: the first 100, as many as a `petstore.json` can list. */
    redirects: (Schemas["ProjectRedirect"])[];
  };
  Project: {
    /** Unique identifier assigned on creation. */
    id: number;
    /** The project's name. */
    name: string;
    /** One DNS label: the project is served at `{slug}.{platform_domain}`. Unique over all accounts. */
    slug: string;
    /** The address of the project: its primary name while that is in effect, otherwise its address on the platform. */
    url: string;
    /** The deployment that is served; null before the first one. */
    deploymentId: number | null;
    domains: Schemas["ProjectDomains"];
    /** Whether the project's other names, its address on the platform included, redirect to its primary name. They do so (308) while the primary name is in effect. Initially false. */
    redirectToPrimary: boolean;
    /** Whether the project's custom domains tell browsers to open them over HTTPS only (HSTS). They do so for a day in the week after a name is verified, then for a year. Sent if the service is reached at ports 80 and 443. */
    hsts: boolean;
    /** When the project was made. */
    createdAt: string;
  };
  Projects: (Schemas["Project"])[];
  ProjectInput: {
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
    /** Whether the project's custom domains tell browsers to open them over HTTPS only (HSTS). They do so for a day in the week after a name is verified, then for a year. Sent if the service is reached at ports 80 and 443. */
    hsts?: boolean;
    /** Whether the project's other names, its address on the platform included, redirect to its primary name. They do so (308) while the primary name is in effect. Initially false. */
    redirectToPrimary?: boolean;
  };
  DeploymentStatus: "queued" | "ready" | "failed";
  LeftOutFiles: {
    count: number;
    /** The paths of the first 20. */
    paths: (string)[];
  };
  Deployment: {
    /** Unique identifier assigned on creation. */
    id: number;
    /** The project that it belongs to. */
    projectId: number;
    /** `queued`, then `ready` (and served at once) or `failed`. */
    status: Schemas["DeploymentStatus"];
    /** Why it failed, and what to change. */
    error: string | null;
    /** How many files it serves. */
    files: number;
    /** Their size, unpacked. */
    bytes: number;
    leftOut: Schemas["LeftOutFiles"];
    /** The address of this deployment alone, while it is kept; null unless it is `ready`, or if the slug is too long for it. */
    url: string | null;
    /** When it was uploaded. */
    createdAt: string;
  };
  Deployments: (Schemas["Deployment"])[];
  DomainKind: "subdomain" | "apex";
  DomainStatus: "pending" | "verified" | "failing";
  DomainRedirect: {
    /** A name of the same project that does not redirect. The redirect is in effect while that name is verified and has a certificate; at other times, and if that name is removed, the domain serves the site. */
    to: string;
    status: Schemas["RedirectStatus"];
  } | null;
  DnsRecordType: "CNAME" | "ALIAS";
  DnsRecord: {
    /** `CNAME` for a subdomain; `ALIAS` for an apex, which some providers call ANAME. */
    type: Schemas["DnsRecordType"];
    /** The label below the registrable domain, or `@`. */
    name: string;
    /** The host of the platform. It must match exactly. */
    value: string;
    /** Seconds. */
    ttl: number;
  };
  DomainProof: {
    type: Schemas["ChallengeType"];
    name: string;
    value: string;
  } | null;
  DomainProblem: {
    /** What kind of problem it is. */
    code: "record_missing" | "conflicting_record" | "wrong_target" | "lookup_failed" | "proof_missing" | "caa_blocks" | "proved_elsewhere" | "redirect_target_not_ready" | "plan_required";
    message: string;
    expected: string;
    found: string;
    /** What to change, and where. */
    fix: string;
  };
  DomainServes: "site" | "redirect" | "nothing";
  DomainServing: {
    /** `nothing`: visitors get a 404, or no connection over HTTPS. */
    what: Schemas["DomainServes"];
    /** The target of a redirect. */
    to: string | null;
    /** Why, in words for people. */
    reason: string;
  };
  CertificateStatus: "none" | "issuing" | "issued" | "failing";
  DomainCertificate: {
    /** `none` until the name is verified, and always if the service has no certificate authority. */
    status: Schemas["CertificateStatus"];
    /** When the certificate that is served was issued. */
    issuedAt: string | null;
    /** When it expires; it is renewed before that. */
    expiresAt: string | null;
    /** Why the last attempt failed. */
    problem: string | null;
    /** When the next attempt is made. */
    retryAt: string | null;
  };
  DomainCheck: {
    check: "still_verifies" | "caa_allows" | "re_verify";
    /** null: could not be checked. */
    passed: boolean | null;
    message: string;
  };
  DomainAttention: {
    /** Since when the certificate has been late. */
    since: string;
    message: string;
    checks: (Schemas["DomainCheck"])[];
  } | null;
  Domain: {
    hostname: string;
    /** The project that it serves. */
    projectId: number;
    kind: Schemas["DomainKind"];
    /** `pending`: never verified yet. `failing`: its DNS has changed since; still served, and checked hourly. */
    status: Schemas["DomainStatus"];
    /** Whether it is the primary name of the project. That takes effect once it is verified and has a certificate; until then an earlier primary name stays in effect. */
    primary: boolean;
    redirect: Schemas["DomainRedirect"];
    record: Schemas["DnsRecord"];
    challenge: Schemas["DomainProof"];
    problems: (Schemas["DomainProblem"])[];
    serving: Schemas["DomainServing"];
    certificate: Schemas["DomainCertificate"];
    attention: Schemas["DomainAttention"];
    /** When DNS is checked next automatically. */
    nextCheckAt: string | null;
    /** When it was added. */
    createdAt: string;
    /** When its DNS was last correct. */
    verifiedAt: string | null;
  };
  Domains: (Schemas["Domain"])[];
  DomainInput: {
    /** A domain or subdomain, such as `www.example.com`; IDN in either form. */
    hostname: string;
  };
  DomainRedirectInput: {
    to?: string;
    status?: Schemas["RedirectStatus"];
  } | null;
  DomainPatch: {
    /** Makes it the primary name of the project, in place of any other. It has to be verified. */
    primary?: boolean;
    redirect?: Schemas["DomainRedirectInput"];
  };
  RemovedDomain: {
    hostname: string;
    /** What is left to do at the registrar. */
    warning?: string;
    /** The names that redirected to it. They now serve the site. */
    redirects: (string)[];
  };
  Webhook: {
    /** Unique identifier assigned on creation. */
    id: number;
    /** An `https://` URL on the public internet. Its port is 80, 443, or one from 1024 to 65535. */
    url: string;
    /** The types of events to send, such as `order.created`, `order.*` or `*`. Default: `*`. */
    types: (string)[];
    /** What the endpoint is for. */
    description: string;
    /** Whether events are sent one by one, in order. A failing one then blocks the others for up to three days. Default: false. */
    ordered: boolean;
    /** Whether events are sent. */
    enabled: boolean;
    /** It failed for five days, answered 410, or was disabled by request. */
    disabledBecause: "failing" | "gone" | "request" | null;
    /** Every event up to here was sent, or is among the deliveries. */
    position: number;
    /** The highest position delivered: replay from here to recover. */
    deliveredPosition: number | null;
    /** When the endpoint last accepted a message. */
    deliveredAt: string | null;
    /** Since when every attempt has failed. */
    failingSince: string | null;
    /** Until when the endpoint asked for no messages (`Retry-After`), at most a day. A test, a resend or `enabled: true` ends it. */
    pausedUntil: string | null;
    /** When the endpoint was created. */
    createdAt: string;
    /** Signs messages. Shown only in the answer that creates it. */
    secret?: string;
  };
  Webhooks: (Schemas["Webhook"])[];
  WebhookInput: {
    /** An `https://` URL on the public internet. Its port is 80, 443, or one from 1024 to 65535. */
    url: string;
    /** The types of events to send, such as `order.created`, `order.*` or `*`. Default: `*`. */
    types?: (string)[] | null;
    /** What the endpoint is for. */
    description?: string | null;
    /** Whether events are sent one by one, in order. A failing one then blocks the others for up to three days. Default: false. */
    ordered?: boolean | null;
  };
  WebhookPatch: {
    /** An `https://` URL on the public internet. Its port is 80, 443, or one from 1024 to 65535. */
    url?: string;
    /** The types of events to send, such as `order.created`, `order.*` or `*`. Default: `*`. */
    types?: (string)[];
    /** What the endpoint is for. */
    description?: string;
    /** Whether events are sent one by one, in order. A failing one then blocks the others for up to three days. Default: false. */
    ordered?: boolean;
    /** Whether events are sent. */
    enabled?: boolean;
  };
  WebhookReplay: {
    /** Sends the events after this position. */
    after: number;
  };
  DeliveryStatus: "pending" | "delivered" | "failed";
  WebhookDelivery: {
    /** Unique identifier of the delivery. */
    id: number;
    /** The `webhook-id`: the event's `id`. */
    messageId: string;
    /** The event's position; null for a test. */
    position: number | null;
    /** The type of the event. */
    type: string;
    /** The request that made the change. */
    requestId: string | null;
    status: Schemas["DeliveryStatus"];
    /** How often the message was sent. */
    attempts: number;
    /** When the last attempt ended. */
    attemptedAt: string | null;
    /** How long the last attempt took. */
    durationMs: number | null;
    /** The status of the last answer. */
    responseStatus: number | null;
    /** Why the last attempt failed. */
    error: string | null;
    /** When the next attempt is due. */
    nextAttemptAt: string | null;
    /** When the message was first sent. */
    createdAt: string;
    /** The first 4 KiB of the message. Not in lists. */
    requestBody?: string | null;
    /** The first 4 KiB of the answer. Not in lists. */
    responseBody?: string | null;
  };
  WebhookDeliveries: (Schemas["WebhookDelivery"])[];
  /** @deprecated a former name */
  NewOrder: Schemas["OrderInput"];
  /** @deprecated a former name */
  NewProject: Schemas["ProjectInput"];
  /** @deprecated a former name */
  NewDomain: Schemas["DomainInput"];
  /** @deprecated a former name */
  NewDomainRedirect: Schemas["DomainRedirectInput"];
  /** @deprecated a former name */
  NullablePetStatus: Schemas["PetStatus"] | null;
  /** @deprecated a former name */
  NullableDomainChallenge: Schemas["DomainProof"];
};

export type paths = {
  "/pets": {
    /** listPets: List pets */
    get: {
      parameters: {
        query?: {
          /** Only pets with this status. Repeat the parameter to name several. */
          status?: Schemas["PetStatus"] | (Schemas["PetStatus"])[];
          /** Only pets of this category. */
          categoryId?: number;
          /** Only pets with these identifiers. Repeat the parameter to name several. */
          id?: number | (number)[];
          /** Only pets that this import made or changed, for 90 days. */
          import?: number;
          /** Only pets that imports from this source made. */
          source?: string;
          /** Only the pets with these identifiers of `source`. Repeat the parameter to name several. */
          sourceId?: string | (string)[];
          /** Only pets of which the profile has this fact, such as `breed:Beagle`: its name, a colon and the value, regardless of case. `born:2024` finds those born in that year. */
          fact?: string;
          /** Only pets whose name, or a later word of it, begins with this text, regardless of case. Pets whose name begins with it come first, sorted by name; then the others, sorted by the matching word. */
          q?: string;
          /** The order; ties are ordered by `id`. `-` is descending. */
          sort?: "id" | "-id" | "name" | "-name";
          /** The most items to return. */
          limit?: number;
          /** Where the page begins: taken from the `Link` header of the page before, with the same filters and sort. */
          cursor?: string;
        };
        header?: {
          /** An ETag that you have: the answer is 304 while it is still current. */
          "If-None-Match"?: string;
          /** The ETag that the resource must have; otherwise 412. */
          "If-Match"?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** createPet: Create a pet */
    post: {
      parameters: {
        header?: {
          /** Makes the request safe to repeat for 24 hours: a replay gets the first answer. */
          "Idempotency-Key"?: string;
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/pets/batch": {
    /** createPetsBatch: Create many pets */
    post: {
      parameters: {
        header?: {
          /** Makes the request safe to repeat for 24 hours: a replay gets the first answer. */
          "Idempotency-Key"?: string;
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["NewPets"];
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
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/pets/{petId}": {
    /** getPet: Get a pet @deprecated */
    get: {
      parameters: {
        path: {
          /** The pet's identifier. */
          petId: number;
        };
        header?: {
          /** An ETag that you have: the answer is 304 while it is still current. */
          "If-None-Match"?: string;
          /** The ETag that the resource must have; otherwise 412. */
          "If-Match"?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** replacePet: Replace a pet */
    put: {
      parameters: {
        path: {
          /** The pet's identifier. */
          petId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        409: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        413: Json<Schemas["Error"]>;
        415: Json<Schemas["Error"]>;
        422: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** updatePet: Update a pet */
    patch: {
      parameters: {
        path: {
          /** The pet's identifier. */
          petId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["PetPatch"];
      } };
      responses: {
        200: Json<Schemas["Pet"]>;
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
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** deletePet: Delete a pet */
    delete: {
      parameters: {
        path: {
          /** The pet's identifier. */
          petId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/pets/{petId}/profile": {
    /** getProfile: Get a pet's profile */
    get: {
      parameters: {
        path: {
          /** The pet's identifier. */
          petId: number;
        };
        header?: {
          /** An ETag that you have: the answer is 304 while it is still current. */
          "If-None-Match"?: string;
          /** The ETag that the resource must have; otherwise 412. */
          "If-Match"?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        200: Json<Schemas["Profile"]>;
        304: Empty;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** replaceProfile: Replace a pet's profile */
    put: {
      parameters: {
        path: {
          /** The pet's identifier. */
          petId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["ProfileInput"];
      } };
      responses: {
        200: Json<Schemas["Profile"]>;
        201: Json<Schemas["Profile"]>;
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
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** updateProfile: Update a pet's profile */
    patch: {
      parameters: {
        path: {
          /** The pet's identifier. */
          petId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["ProfilePatch"];
      } };
      responses: {
        200: Json<Schemas["Profile"]>;
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
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** deleteProfile: Delete a pet's profile */
    delete: {
      parameters: {
        path: {
          /** The pet's identifier. */
          petId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/pets/{petId}/profile/photos": {
    /** addPhoto: Add a photo */
    post: {
      parameters: {
        path: {
          /** The pet's identifier. */
          petId: number;
        };
        query?: {
          /** What the photo shows, for people who cannot see it. */
          alt?: string;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
          /** Makes the request safe to repeat for 24 hours: a replay gets the first answer. */
          "Idempotency-Key"?: string;
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      requestBody: { content: {
        "application/octet-stream": string;
      } };
      responses: {
        201: Json<Schemas["Photo"]>;
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
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/pets/{petId}/profile/photos/{photoId}": {
    /** deletePhoto: Delete a photo */
    delete: {
      parameters: {
        path: {
          /** The pet's identifier. */
          petId: number;
          /** The photo's identifier. */
          photoId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        431: Json<Schemas["Error"]>;
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
          /** Only the category with this name, whatever its case. */
          name?: string;
          /** The most items to return. */
          limit?: number;
          /** Where the page begins: taken from the `Link` header of the page before, with the same filters and sort. */
          cursor?: string;
        };
        header?: {
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        200: Json<Schemas["Categories"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
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
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        431: Json<Schemas["Error"]>;
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
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        431: Json<Schemas["Error"]>;
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
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        431: Json<Schemas["Error"]>;
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
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      requestBody: { content: {
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
        431: Json<Schemas["Error"]>;
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
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        431: Json<Schemas["Error"]>;
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
          /** Only orders of this pet. */
          petId?: number;
          /** `true`: only fulfilled orders; `false`: only open ones. */
          complete?: boolean;
          /** The order. `-` is descending. */
          sort?: "id" | "-id";
          /** The most items to return. */
          limit?: number;
          /** Where the page begins: taken from the `Link` header of the page before, with the same filters and sort. */
          cursor?: string;
        };
        header?: {
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        200: Json<Schemas["Orders"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
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
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["OrderInput"];
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
        431: Json<Schemas["Error"]>;
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
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        431: Json<Schemas["Error"]>;
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
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["OrderInput"];
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
        431: Json<Schemas["Error"]>;
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
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      requestBody: { content: {
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
        431: Json<Schemas["Error"]>;
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
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/store/orders/{orderId}/contact": {
    /** getContact: Get an order's contact */
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
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        200: Json<Schemas["Contact"]>;
        304: Empty;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** replaceContact: Set an order's contact */
    put: {
      parameters: {
        path: {
          /** The order's identifier. */
          orderId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["ContactInput"];
      } };
      responses: {
        200: Json<Schemas["Contact"]>;
        201: Json<Schemas["Contact"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        413: Json<Schemas["Error"]>;
        415: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** deleteContact: Delete an order's contact */
    delete: {
      parameters: {
        path: {
          /** The order's identifier. */
          orderId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/reservations": {
    /** listReservations: List reservations */
    get: {
      parameters: {
        query?: {
          /** Only reservations in this state. */
          state?: Schemas["ReservationState"];
          /** The order. `-` is descending. */
          sort?: "id" | "-id";
          /** The most items to return. */
          limit?: number;
          /** Where the page begins: taken from the `Link` header of the page before, with the same filters and sort. */
          cursor?: string;
        };
        header?: {
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        200: Json<Schemas["Reservations"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/reservations/{reservationId}": {
    /** getReservation: Get a reservation */
    get: {
      parameters: {
        path: {
          /** The reservation's identifier. */
          reservationId: number;
        };
        header?: {
          /** An ETag that you have: the answer is 304 while it is still current. */
          "If-None-Match"?: string;
          /** The ETag that the resource must have; otherwise 412. */
          "If-Match"?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        200: Json<Schemas["Reservation"]>;
        304: Empty;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** updateReservation: Accept, refuse or change a reservation */
    patch: {
      parameters: {
        path: {
          /** The reservation's identifier. */
          reservationId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["ReservationPatch"];
      } };
      responses: {
        200: Json<Schemas["Reservation"]>;
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
        431: Json<Schemas["Error"]>;
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
          /** Only entries with this status. Repeat the parameter to name several. */
          status?: Schemas["PetStatus"] | (Schemas["PetStatus"])[];
          /** Only the entries of these pets. Repeat the parameter to name several. */
          petId?: number | (number)[];
          /** The most items to return. */
          limit?: number;
          /** Where the page begins: taken from the `Link` header of the page before, with the same filters and sort. */
          cursor?: string;
        };
        header?: {
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        200: Json<Schemas["InventoryItems"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
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
          /** The identifier of the pet that the entry tracks. */
          petId: number;
        };
        header?: {
          /** An ETag that you have: the answer is 304 while it is still current. */
          "If-None-Match"?: string;
          /** The ETag that the resource must have; otherwise 412. */
          "If-Match"?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** replaceInventoryItem: Set a stock count */
    put: {
      parameters: {
        path: {
          /** The identifier of the pet that the entry tracks. */
          petId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** deleteInventoryItem: Stop tracking a pet */
    delete: {
      parameters: {
        path: {
          /** The identifier of the pet that the entry tracks. */
          petId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        431: Json<Schemas["Error"]>;
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
          /** The identifier of the pet that the entry tracks. */
          petId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
          /** Makes the request safe to repeat for 24 hours: a replay gets the first answer. */
          "Idempotency-Key"?: string;
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/imports": {
    /** listImports: List imports */
    get: {
      parameters: {
        query?: {
          /** Only imports from this source. */
          source?: string;
          /** The order. `-` is descending. */
          sort?: "id" | "-id";
          /** The most items to return. */
          limit?: number;
          /** Where the page begins: taken from the `Link` header of the page before, with the same filters and sort. */
          cursor?: string;
        };
        header?: {
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        200: Json<Schemas["Imports"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** createImport: Begin an import */
    post: {
      parameters: {
        header?: {
          /** Makes the request safe to repeat for 24 hours: a replay gets the first answer. */
          "Idempotency-Key"?: string;
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["ImportInput"];
      } };
      responses: {
        201: Json<Schemas["Import"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        413: Json<Schemas["Error"]>;
        415: Json<Schemas["Error"]>;
        422: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/imports/{importId}": {
    /** getImport: Get an import */
    get: {
      parameters: {
        path: {
          /** The import's identifier. */
          importId: number;
        };
        header?: {
          /** An ETag that you have: the answer is 304 while it is still current. */
          "If-None-Match"?: string;
          /** The ETag that the resource must have; otherwise 412. */
          "If-Match"?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        200: Json<Schemas["Import"]>;
        304: Empty;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/imports/{importId}/rows": {
    /** importRows: Import rows */
    post: {
      parameters: {
        path: {
          /** The import's identifier. */
          importId: number;
        };
        query?: {
          /** `true` ends the import. */
          last?: boolean;
          /** How many more rows of the file the client did not send. */
          rejected?: number;
        };
        header?: {
          /** Makes the request safe to repeat for 24 hours: a replay gets the first answer. */
          "Idempotency-Key"?: string;
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["ImportRows"];
      } };
      responses: {
        200: Json<Schemas["ImportedRows"]>;
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
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/imports/{importId}/undo": {
    /** undoImport: Undo an import */
    post: {
      parameters: {
        path: {
          /** The import's identifier. */
          importId: number;
        };
        header?: {
          /** Makes the request safe to repeat for 24 hours: a replay gets the first answer. */
          "Idempotency-Key"?: string;
          /** `dry-run`: the answer shows what the request would do, and nothing changes. */
          Prefer?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        202: Json<Schemas["Import"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/events": {
    /** listEvents: List events */
    get: {
      parameters: {
        query?: {
          /** Only events after this position. Default: all that are kept. */
          after?: number;
          /** Only these types, such as `order.created,order.updated` or `order.*`. Repeat the parameter to name several. */
          types?: string | (string)[];
          /** The most events to return. */
          limit?: number;
          /** Seconds to wait for an event if there is none. */
          wait?: number;
        };
        header?: {
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        200: Json<Schemas["Events"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        410: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/events/stream": {
    /** streamEvents: Stream events */
    get: {
      parameters: {
        query?: {
          /** Only events after this position. Default: new events only. `Last-Event-ID` takes precedence. */
          after?: number;
          /** Only these types, such as `order.created,order.updated` or `order.*`. Repeat the parameter to name several. */
          types?: string | (string)[];
          /** Seconds without an event after which the stream ends. Default: never. */
          wait?: number;
        };
        header?: {
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        200: { content: {
          "text/event-stream": string;
        } };
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        410: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/events/checkpoint": {
    /** getEventsCheckpoint: Get a checkpoint of the events */
    get: {
      parameters: {
        query?: {
          /** Default: the newest event. */
          position?: number;
        };
        header?: {
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        200: Json<Schemas["EventsCheckpoint"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        410: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/account": {
    /** getAccount: Get the account */
    get: {
      parameters: {
        header?: {
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        200: Json<Schemas["Account"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
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
          interval?: Schemas["UsageInterval"];
          /** Also counts the requests of each key or of each operation. */
          groupBy?: Schemas["UsageGrouping"];
        };
        header?: {
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        200: Json<Schemas["Usage"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/keys": {
    /** listKeys: List keys */
    get: {
      parameters: {
        query?: {
          /** The most items to return. */
          limit?: number;
          /** Where the page begins: taken from the `Link` header of the page before, with the same filters and sort. */
          cursor?: string;
        };
        header?: {
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        200: Json<Schemas["Keys"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** createKey: Create a key */
    post: {
      parameters: {
        header?: {
          /** Makes the request safe to repeat for 24 hours: a replay gets the first answer. */
          "Idempotency-Key"?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["KeyInput"];
      } };
      responses: {
        201: Json<Schemas["CreatedKey"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        413: Json<Schemas["Error"]>;
        415: Json<Schemas["Error"]>;
        422: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/keys/{keyId}/rotate": {
    /** rotateKey: Rotate a key */
    post: {
      parameters: {
        path: {
          /** The key. */
          keyId: number;
        };
        header?: {
          /** Makes the request safe to repeat for 24 hours: a replay gets the first answer. */
          "Idempotency-Key"?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      requestBody?: { content: {
        "application/json": Schemas["KeyRotation"];
      } };
      responses: {
        201: Json<Schemas["CreatedKey"]>;
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
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/keys/{keyId}": {
    /** revokeKey: Revoke a key */
    delete: {
      parameters: {
        path: {
          /** The key. */
          keyId: number;
        };
        header?: {
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        204: Empty;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
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
          /** The most items to return. */
          limit?: number;
          /** Where the page begins: taken from the `Link` header of the page before, with the same filters and sort. */
          cursor?: string;
        };
        header?: {
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        200: Json<Schemas["Projects"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
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
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["ProjectInput"];
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
        431: Json<Schemas["Error"]>;
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
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        431: Json<Schemas["Error"]>;
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
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      requestBody: { content: {
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
        431: Json<Schemas["Error"]>;
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
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        431: Json<Schemas["Error"]>;
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
          /** The most items to return. */
          limit?: number;
          /** Where the page begins: taken from the `Link` header of the page before, with the same filters and sort. */
          cursor?: string;
        };
        header?: {
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        431: Json<Schemas["Error"]>;
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
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      requestBody: { content: {
        "application/octet-stream": string;
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
        431: Json<Schemas["Error"]>;
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
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        431: Json<Schemas["Error"]>;
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
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
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
          /** The most items to return. */
          limit?: number;
          /** Where the page begins: taken from the `Link` header of the page before, with the same filters and sort. */
          cursor?: string;
        };
        header?: {
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        431: Json<Schemas["Error"]>;
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
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["DomainInput"];
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
        431: Json<Schemas["Error"]>;
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
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        431: Json<Schemas["Error"]>;
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
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["DomainPatch"];
      } };
      responses: {
        200: Json<Schemas["Domain"]>;
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
        431: Json<Schemas["Error"]>;
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
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        200: Json<Schemas["RemovedDomain"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
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
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/webhooks": {
    /** listWebhooks: List webhook endpoints */
    get: {
      parameters: {
        query?: {
          /** The most items to return. */
          limit?: number;
          /** Where the page begins: taken from the `Link` header of the page before, with the same filters and sort. */
          cursor?: string;
        };
        header?: {
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        200: Json<Schemas["Webhooks"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** createWebhook: Create a webhook endpoint */
    post: {
      parameters: {
        header?: {
          /** Makes the request safe to repeat for 24 hours: a replay gets the first answer. */
          "Idempotency-Key"?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["WebhookInput"];
      } };
      responses: {
        201: Json<Schemas["Webhook"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        413: Json<Schemas["Error"]>;
        415: Json<Schemas["Error"]>;
        422: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/webhooks/{webhookId}": {
    /** getWebhook: Get a webhook endpoint */
    get: {
      parameters: {
        path: {
          /** The endpoint's identifier. */
          webhookId: number;
        };
        header?: {
          /** An ETag that you have: the answer is 304 while it is still current. */
          "If-None-Match"?: string;
          /** The ETag that the resource must have; otherwise 412. */
          "If-Match"?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        200: Json<Schemas["Webhook"]>;
        304: Empty;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** updateWebhook: Update a webhook endpoint */
    patch: {
      parameters: {
        path: {
          /** The endpoint's identifier. */
          webhookId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["WebhookPatch"];
      } };
      responses: {
        200: Json<Schemas["Webhook"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        412: Json<Schemas["Error"]>;
        413: Json<Schemas["Error"]>;
        415: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
    /** deleteWebhook: Delete a webhook endpoint */
    delete: {
      parameters: {
        path: {
          /** The endpoint's identifier. */
          webhookId: number;
        };
        header?: {
          /** The ETag that the resource must still have; otherwise 412 and no change. */
          "If-Match"?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
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
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/webhooks/{webhookId}/rotate": {
    /** rotateWebhookSecret: Rotate a webhook secret */
    post: {
      parameters: {
        path: {
          /** The endpoint's identifier. */
          webhookId: number;
        };
        header?: {
          /** Makes the request safe to repeat for 24 hours: a replay gets the first answer. */
          "Idempotency-Key"?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        200: Json<Schemas["Webhook"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/webhooks/{webhookId}/replay": {
    /** replayWebhook: Replay events to an endpoint */
    post: {
      parameters: {
        path: {
          /** The endpoint's identifier. */
          webhookId: number;
        };
        header?: {
          /** Makes the request safe to repeat for 24 hours: a replay gets the first answer. */
          "Idempotency-Key"?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      requestBody: { content: {
        "application/json": Schemas["WebhookReplay"];
      } };
      responses: {
        200: Json<Schemas["Webhook"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        410: Json<Schemas["Error"]>;
        413: Json<Schemas["Error"]>;
        415: Json<Schemas["Error"]>;
        422: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/webhooks/{webhookId}/test": {
    /** testWebhook: Test a webhook endpoint */
    post: {
      parameters: {
        path: {
          /** The endpoint's identifier. */
          webhookId: number;
        };
        header?: {
          /** Makes the request safe to repeat for 24 hours: a replay gets the first answer. */
          "Idempotency-Key"?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        202: Json<Schemas["WebhookDelivery"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/webhooks/{webhookId}/deliveries": {
    /** listWebhookDeliveries: List deliveries */
    get: {
      parameters: {
        path: {
          /** The endpoint's identifier. */
          webhookId: number;
        };
        query?: {
          /** The most items to return. */
          limit?: number;
          /** Where the page begins: taken from the `Link` header of the page before, with the same filters and sort. */
          cursor?: string;
          /** Only deliveries with this status. */
          status?: Schemas["DeliveryStatus"];
          /** Only deliveries of events that this request caused. */
          requestId?: string;
        };
        header?: {
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        200: Json<Schemas["WebhookDeliveries"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/webhooks/{webhookId}/deliveries/{deliveryId}": {
    /** getWebhookDelivery: Get a delivery */
    get: {
      parameters: {
        path: {
          /** The endpoint's identifier. */
          webhookId: number;
          /** The delivery's identifier. */
          deliveryId: number;
        };
        header?: {
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        200: Json<Schemas["WebhookDelivery"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
  "/webhooks/{webhookId}/deliveries/{deliveryId}/resend": {
    /** resendWebhookDelivery: Resend a delivery */
    post: {
      parameters: {
        path: {
          /** The endpoint's identifier. */
          webhookId: number;
          /** The delivery's identifier. */
          deliveryId: number;
        };
        header?: {
          /** Makes the request safe to repeat for 24 hours: a replay gets the first answer. */
          "Idempotency-Key"?: string;
          /** Your own id for the request: 1 to 128 characters of `A–Z a–z 0–9 . _ -`. The answer repeats it. Default: an id that the service makes. */
          "X-Request-Id"?: string;
          /** The trace that the request belongs to (W3C Trace Context), for the service's log. */
          traceparent?: string;
        };
      };
      responses: {
        202: Json<Schemas["WebhookDelivery"]>;
        400: Json<Schemas["Error"]>;
        401: Json<Schemas["Error"]>;
        403: Json<Schemas["Error"]>;
        404: Json<Schemas["Error"]>;
        406: Json<Schemas["Error"]>;
        409: Json<Schemas["Error"]>;
        429: Json<Schemas["Error"]>;
        431: Json<Schemas["Error"]>;
        500: Json<Schemas["Error"]>;
        503: Json<Schemas["Error"]>;
      };
    };
  };
};
