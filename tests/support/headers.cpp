// A target with precompiled headers has to compile something.
