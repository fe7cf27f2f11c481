-- The point of a photo that stays in view where it is cropped, in percent from its left and its top edge. NULL: nobody has chosen one.
ALTER TABLE photos ADD COLUMN focus_x BIGINT;
ALTER TABLE photos ADD COLUMN focus_y BIGINT;
ALTER TABLE bin_photo_files ADD COLUMN focus_x BIGINT;
ALTER TABLE bin_photo_files ADD COLUMN focus_y BIGINT;
