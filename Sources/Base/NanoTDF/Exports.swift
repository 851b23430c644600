// A type of another module in the interface: a program that imports NanoTDF needs no other module.

@_exported public import class Bytes.SecretBytes
