// Types of other modules in the interface: a program that imports Circle needs no other module.

@_exported public import CircleModel
@_exported public import RunarNode
@_exported public import SealedMessages
