/** The texts of the dialog for the focal point of a photo. */
export const focusTexts = {
  title: (place: number) => `Focal point of photo ${place}`,
  hint: "Your shop crops photos. Press the most important spot, such as the eyes, or move the sliders.",
  card: "On a card",
  across: "From left to right",
  down: "From top to bottom",
  automatic: "Choose automatically",
  action: "Save",
};
