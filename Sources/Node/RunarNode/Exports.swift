// The types of other modules that the interface names, so that programs need to import RunarNode only.

@_exported public import enum Database.StorageError
@_exported public import struct Failures.RunarErrorCode
@_exported public import struct Transport.InMemoryLimits
@_exported public import class Transport.InMemoryNetwork
@_exported public import struct Transport.LinkModel
@_exported public import enum Transport.TransportError
@_exported public import class Transport.VirtualClock
