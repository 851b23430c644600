// Types of other modules in the interface: a program that imports SealedMessages needs no other module.

@_exported public import NanoTDF
@_exported public import OneTimeKeys
