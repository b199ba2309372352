// Has nothing of its own: the precompiled header of the layers is made with it.
