//! tilec: an open compiler from CUDA Tile IR to PTX.
