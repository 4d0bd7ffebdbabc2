BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0001');
CREATE TABLE attempt (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	run_key INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	phase TEXT NOT NULL, 
	resume_step INTEGER NOT NULL, 
	started_at DOUBLE NOT NULL, 
	changed TEXT NOT NULL, 
	CONSTRAINT fk_attempt_run_key FOREIGN KEY(run_key) REFERENCES run ("key"), 
	CONSTRAINT uq_attempt_run_key_number UNIQUE (run_key, number)
);
INSERT INTO "attempt" VALUES(1,1,1,'train',0,1.7960046023827679157e+09,'{}');
CREATE TABLE completion (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	group_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	text BLOB NOT NULL, 
	tokens INTEGER NOT NULL, 
	truncated BOOLEAN NOT NULL, 
	rewards TEXT NOT NULL, 
	total DOUBLE, 
	advantage DOUBLE, 
	CONSTRAINT fk_completion_group_id FOREIGN KEY(group_id) REFERENCES sample_group (id), 
	CONSTRAINT uq_completion_group_id_position UNIQUE (group_id, position)
);
INSERT INTO "completion" VALUES(1,1,0,X'003C616E737765723E323C2F616E737765723E',18,0,'[1.0,null]',1.0,1.0);
INSERT INTO "completion" VALUES(2,1,1,X'006E6F',2,0,'[0.0,null]',0.0,0.0);
INSERT INTO "completion" VALUES(3,2,0,X'00ED959CEAB88020EB8BB5203C616E737765723E333C2F616E737765723E',23,0,'[1.0,null]',1.0,1.0);
INSERT INTO "completion" VALUES(4,2,1,X'017801ABA81805C4860000B20A8CA1',300,0,'[0.0,null]',0.0,0.0);
CREATE TABLE evaluation (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	run_key INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	at DOUBLE NOT NULL, 
	moment TEXT NOT NULL, 
	step INTEGER NOT NULL, 
	n INTEGER NOT NULL, 
	accuracy DOUBLE NOT NULL, 
	format_rate DOUBLE NOT NULL, 
	mean_length DOUBLE NOT NULL, 
	eos_rate DOUBLE NOT NULL, 
	mean_reward DOUBLE, 
	dataset TEXT NOT NULL, 
	seconds DOUBLE NOT NULL, 
	CONSTRAINT fk_evaluation_run_key FOREIGN KEY(run_key) REFERENCES run ("key")
);
CREATE TABLE evaluation_item (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	evaluation_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	prompt BLOB NOT NULL, 
	prompt_format TEXT NOT NULL, 
	ground_truth BLOB, 
	completion BLOB NOT NULL, 
	correct BOOLEAN NOT NULL, 
	formatted BOOLEAN NOT NULL, 
	tokens INTEGER NOT NULL, 
	eos BOOLEAN NOT NULL, 
	reward DOUBLE, 
	CONSTRAINT fk_evaluation_item_evaluation_id FOREIGN KEY(evaluation_id) REFERENCES evaluation (id), 
	CONSTRAINT uq_evaluation_item_evaluation_id_position UNIQUE (evaluation_id, position)
);
CREATE TABLE event (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	run_key INTEGER NOT NULL, 
	at DOUBLE NOT NULL, 
	kind TEXT NOT NULL, 
	level TEXT NOT NULL, 
	message TEXT NOT NULL, 
	data TEXT NOT NULL, 
	CONSTRAINT fk_event_run_key FOREIGN KEY(run_key) REFERENCES run ("key")
);
INSERT INTO "event" VALUES(1,1,1.79600460239008855815e+09,'state','info','queued','{"to":"queued"}');
CREATE TABLE metric (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	run_key INTEGER NOT NULL, 
	series_id INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	step INTEGER NOT NULL, 
	value DOUBLE NOT NULL, 
	at DOUBLE NOT NULL, 
	CONSTRAINT fk_metric_run_key FOREIGN KEY(run_key) REFERENCES run ("key"), 
	CONSTRAINT fk_metric_series_id FOREIGN KEY(series_id) REFERENCES series (id)
);
INSERT INTO "metric" VALUES(1,1,1,1,1,0.5,1.79600460240176582329e+09);
CREATE TABLE metric_chunk (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	run_key INTEGER NOT NULL, 
	series_id INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	last_id INTEGER NOT NULL, 
	steps BLOB NOT NULL, 
	points BLOB NOT NULL, 
	CONSTRAINT fk_metric_chunk_run_key FOREIGN KEY(run_key) REFERENCES run ("key"), 
	CONSTRAINT fk_metric_chunk_series_id FOREIGN KEY(series_id) REFERENCES series (id)
);
CREATE TABLE run (
	"key" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	state TEXT NOT NULL, 
	reason TEXT, 
	config TEXT NOT NULL, 
	preset TEXT, 
	created_at DOUBLE NOT NULL, 
	started_at DOUBLE, 
	ended_at DOUBLE, 
	attempt INTEGER NOT NULL, 
	revision INTEGER NOT NULL, 
	stage TEXT, 
	stage_step INTEGER NOT NULL, 
	stage_total INTEGER, 
	last_step INTEGER NOT NULL, 
	total_steps INTEGER, 
	step_at DOUBLE, 
	eta_s DOUBLE, 
	stop_requested TEXT, 
	log_tail TEXT, 
	reward_names TEXT NOT NULL, 
	deleted BOOLEAN NOT NULL, 
	CONSTRAINT uq_run_id UNIQUE (id)
);
INSERT INTO "run" VALUES(1,'20261129-134500-ab2c','a name','queued',NULL,'{"learning_rate":0.0001}','quickstart',1.7960046023827679157e+09,NULL,NULL,1,1,NULL,0,NULL,0,NULL,NULL,NULL,NULL,NULL,'["accuracy","format"]',0);
CREATE TABLE sample_group (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	run_key INTEGER NOT NULL, 
	attempt INTEGER NOT NULL, 
	step INTEGER NOT NULL, 
	phase TEXT NOT NULL, 
	prompt_id TEXT NOT NULL, 
	prompt BLOB NOT NULL, 
	prompt_format TEXT NOT NULL, 
	ground_truth BLOB, 
	reward_names TEXT NOT NULL, 
	CONSTRAINT fk_sample_group_run_key FOREIGN KEY(run_key) REFERENCES run ("key")
);
INSERT INTO "sample_group" VALUES(1,1,1,1,'train','row-1',X'00312B313D3F','text',X'0032','["accuracy","format"]');
INSERT INTO "sample_group" VALUES(2,1,1,2,'train','row-2',X'00312B313D3F','text',X'0032','["accuracy","format"]');
CREATE TABLE series (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	run_key INTEGER NOT NULL, 
	phase TEXT NOT NULL, 
	name TEXT NOT NULL, 
	CONSTRAINT fk_series_run_key FOREIGN KEY(run_key) REFERENCES run ("key"), 
	CONSTRAINT uq_series_run_key_phase_name UNIQUE (run_key, phase, name)
);
INSERT INTO "series" VALUES(1,1,'train','loss');
CREATE TABLE writer_mark (
	writer TEXT NOT NULL, 
	run_key INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	CONSTRAINT pk_writer_mark PRIMARY KEY (writer), 
	CONSTRAINT fk_writer_mark_run_key FOREIGN KEY(run_key) REFERENCES run ("key")
);
INSERT INTO "writer_mark" VALUES('55ce247408bf466ab6a3d2f45595c8ea',1,1);
CREATE INDEX ix_evaluation_run_key_id ON evaluation (run_key, id);
CREATE INDEX ix_event_run_key_id ON event (run_key, id);
CREATE INDEX ix_sample_group_run_key_id ON sample_group (run_key, id);
CREATE INDEX ix_sample_group_run_key_step ON sample_group (run_key, step);
CREATE INDEX ix_writer_mark_run_key ON writer_mark (run_key);
CREATE INDEX ix_metric_run_key_id ON metric (run_key, id);
CREATE INDEX ix_metric_series_id_attempt_step ON metric (series_id, attempt, step);
CREATE INDEX ix_metric_chunk_run_key_last_id ON metric_chunk (run_key, last_id);
CREATE INDEX ix_metric_chunk_series_id ON metric_chunk (series_id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('run',1);
INSERT INTO "sqlite_sequence" VALUES('attempt',1);
INSERT INTO "sqlite_sequence" VALUES('event',1);
INSERT INTO "sqlite_sequence" VALUES('sample_group',2);
INSERT INTO "sqlite_sequence" VALUES('completion',4);
INSERT INTO "sqlite_sequence" VALUES('series',1);
INSERT INTO "sqlite_sequence" VALUES('metric',1);
COMMIT;
