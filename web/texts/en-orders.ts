/** The pages about orders; only they load these texts. */
export const ordersTexts = {
  placed: "Placed",
  customer: "Customer",
  noName: "No name",
  price: "Price",
  each: (price: string) => `${price} each`,
  total: "Total",
  noPrice: "No price",
  explained: {
    open: "Its animals are set aside for the customer. Fulfil it once the customer has them, or cancel it to offer them again.",
    complete: "Its animals count as sold. Only the ship date can still change.",
    cancelled: "It was deleted, and its animals can be ordered again.",
  },

  reservation: "Reservation",
  reservedUntil: "Reserved in your storefront until",
  reserved: "Reserved in your storefront",

  nobody: "Nobody is noted for this order yet.",
  name: "Name",
  email: "Email",
  phone: "Telephone",
  address: "Address",
  note: "Note",
  noteHint: "Only the people of your shop see it.",
  addContact: "Add the customer",
  changeContact: "Change the customer",
  saveContact: "Save",
  savedContact: "The customer is saved.",
  needsSome: "Fill in at least one field.",
  deleteContact: "Delete",
  deleteContactTitle: "Delete the customer’s details?",
  deleteContactText: "The order stays. What you wrote about the customer cannot be brought back.",
  deletedContact: "The customer’s details are deleted.",

  others: "Other orders of this customer",
  othersLead: "Orders with the same email or telephone number.",
  moreOthers: (count: string) => `These are the newest ${count}. There are more.`,

  slip: "Print a slip",
  slipTitle: (id: number) => `Order ${id}`,
  slipOthers: "Also open for this customer",
  signature: "Received",

  days: {
    open: (days: string) => `Customers’ details: ${days} days`,
    title: "How long customers’ details are kept",
    label: "Days",
    hint: "The name, email, telephone, address and note of a customer are deleted this long after the order is fulfilled. Orders stay, and so do details of open ones.",
    action: "Save",
    done: (days: string) => `Customers’ details are deleted ${days} days after the order.`,
  },
};
