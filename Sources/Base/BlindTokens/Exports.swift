// A type of another module in the interface: a program that imports BlindTokens needs no other module.

@_exported public import class Bytes.SecretBytes
