/** Names for the shapes that the API's description gives. */
import type { components } from './schema';

type Schemas = components['schemas'];

export type Artifact = Schemas['ArtifactDocument'];
export type ArtifactComparison = Schemas['ArtifactComparison'];
export type Attempt = Schemas['AttemptDocument'];
export type Check = Schemas['CheckResult'];
export type Checkpoint = Schemas['CheckpointDocument'];
export type CheckpointDefinition = Schemas['CheckpointDefinition'];
export type Comparison = Schemas['ComparisonDocument'];
export type Context = Schemas['ContextDocument'];
export type Event = Schemas['EventDocument'];
export type Execution = Schemas['ExecutionDocument'];
/** What an order about an execution is answered with. */
export type ExecutionAnswer = Schemas['ExecutionAnswer'];
export type Graph = Schemas['GraphDocument'];
export type InboxItem = Schemas['InboxItem'];
export type InputField = Schemas['InputField'];
export type Interaction = Schemas['Interaction'];
export type LogLine = Schemas['LogLine'];
export type Me = Schemas['Me'];
export type Message = Schemas['Message'];
export type Pipeline = Schemas['PipelineDocument'];
export type Revision = Schemas['RevisionDocument'];
export type Rollback = Schemas['RollbackDocument'];
export type RollbackPreview = Schemas['Preview'];
export type Run = Schemas['RunDocument'];
export type Token = Schemas['TokenDocument'];
export type Usage = Schemas['UsageDocument'];
export type WaitingFor = Schemas['WaitingFor'];
export type { components, paths } from './schema';
