// A target with precompiled headers must compile some file.
