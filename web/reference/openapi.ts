/** The parts of an OpenAPI 3.0 description that the reference reads. */
export type OpenApi = {
  info: { title: string; version: string; description?: string };
  servers?: { url: string }[];
  tags?: { name: string; description?: string }[];
  "x-tagGroups"?: { name: string; tags: string[] }[];
  /** Each error code with its status and meaning. */
  "x-errors"?: ErrorTable;
  paths: Record<string, Partial<Record<Method, OperationObject>>>;
  components?: {
    schemas?: Record<string, Schema>;
    headers?: Record<string, Header>;
    parameters?: Record<string, Parameter>;
    responses?: Record<string, ResponseObject>;
  };
};

export type ErrorTable = Record<string, { status: number; meaning: string }>;

export const methods = ["get", "post", "put", "patch", "delete"] as const;
export type Method = (typeof methods)[number];

type Reference = { $ref: string };

export type Schema = {
  $ref?: string;
  type?: string;
  format?: string;
  description?: string;
  nullable?: boolean;
  deprecated?: boolean;
  enum?: unknown[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  /** A use of a named schema with its own description. */
  allOf?: Schema[];
};

export type Header = { description?: string; schema?: Schema; example?: unknown };

export type Place = "path" | "query" | "header" | "cookie";

export type Parameter = {
  name: string;
  in: Place;
  required?: boolean;
  description?: string;
  schema?: Schema;
  example?: unknown;
  /** Whether every operation takes it, so that only the introduction describes it. */
  "x-of-every-operation"?: boolean;
};

export type MediaType = { schema?: Schema; example?: unknown; examples?: Record<string, { value?: unknown }> };

export type ResponseObject = { description: string; headers?: Record<string, Header | Reference>; content?: Record<string, MediaType> };

export type CodeSample = { lang: string; label?: string; source: string };

export type OperationObject = {
  operationId?: string;
  tags?: string[];
  summary?: string;
  description?: string;
  deprecated?: boolean;
  parameters?: (Parameter | Reference)[];
  requestBody?: { required?: boolean; content: Record<string, MediaType> };
  responses: Record<string, ResponseObject | Reference>;
  "x-scopes"?: string[];
  "x-stability"?: string;
  "x-sunset"?: string;
  "x-successor"?: string;
  "x-hideTryItPanel"?: boolean;
  "x-codeSamples"?: CodeSample[];
};
