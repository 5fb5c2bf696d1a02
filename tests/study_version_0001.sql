BEGIN TRANSACTION;
CREATE TABLE annotators (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	name VARCHAR(100) NOT NULL, 
	token_hash VARCHAR(64) NOT NULL, 
	invited_at DATETIME NOT NULL, 
	seen_at DATETIME, 
	PRIMARY KEY (id), 
	UNIQUE (study_id, name), 
	FOREIGN KEY(study_id) REFERENCES studies (id), 
	UNIQUE (token_hash)
);
INSERT INTO "annotators" VALUES(1,1,'Ann','25d553123f2f443b10c4db0397ca996ec5cf03e367c6c2db7d5b1fd4ca8fb7db','2026-11-16 15:21:25.294202','2026-11-16 15:21:25.559453');
INSERT INTO "annotators" VALUES(2,1,'Bob','a122362bfb79b9f98bb13b86b58bb550a2f9599737c58d2fbd430d796872d6e0','2026-11-16 15:21:25.294337','2026-11-16 15:21:25.542865');
CREATE TABLE answers (
	id INTEGER NOT NULL, 
	assignment_id INTEGER NOT NULL, 
	version INTEGER NOT NULL, 
	submission_key VARCHAR(100) NOT NULL, 
	answer JSON NOT NULL, 
	seconds FLOAT NOT NULL, 
	submitted_at DATETIME NOT NULL, 
	withdrawn_at DATETIME, 
	PRIMARY KEY (id), 
	UNIQUE (assignment_id, submission_key), 
	UNIQUE (assignment_id, version), 
	FOREIGN KEY(assignment_id) REFERENCES assignments (id)
);
INSERT INTO "answers" VALUES(1,1,1,'one','{"kind": "annotation", "pattern": false, "patterns": []}',0.09422,'2026-11-16 15:21:25.417771','2026-11-16 15:21:25.451806');
INSERT INTO "answers" VALUES(2,1,2,'two','{"kind": "annotation", "pattern": true, "patterns": [{"name": "stories", "sentences": [0, 1, 2]}]}',0.03009,'2026-11-16 15:21:25.481896',NULL);
INSERT INTO "answers" VALUES(3,2,1,'one','{"kind": "annotation", "pattern": false, "patterns": []}',0.040284,'2026-11-16 15:21:25.542865',NULL);
CREATE TABLE assignments (
	id INTEGER NOT NULL, 
	item_id INTEGER NOT NULL, 
	annotator_id INTEGER NOT NULL, 
	public_id VARCHAR(32) NOT NULL, 
	slot INTEGER, 
	answered BOOLEAN NOT NULL, 
	place INTEGER NOT NULL, 
	taken_at DATETIME NOT NULL, 
	seen_at DATETIME NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (item_id, slot), 
	UNIQUE (item_id, annotator_id), 
	FOREIGN KEY(item_id) REFERENCES items (id), 
	FOREIGN KEY(annotator_id) REFERENCES annotators (id), 
	UNIQUE (public_id)
);
INSERT INTO "assignments" VALUES(1,1,1,'irzPu1zNFG3Pvb1o',1,1,1,'2026-11-16 15:21:25.451806','2026-11-16 15:21:25.481896');
INSERT INTO "assignments" VALUES(2,3,2,'SoH3xd8Bx2Uz0YUx',1,1,1,'2026-11-16 15:21:25.502581','2026-11-16 15:21:25.542865');
INSERT INTO "assignments" VALUES(3,3,1,'rIQtXUzRKzWBwurN',2,0,2,'2026-11-16 15:21:25.559453','2026-11-16 15:21:25.559453');
CREATE TABLE item_keys (
	item_id INTEGER NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	"key" JSON NOT NULL, 
	PRIMARY KEY (item_id), 
	FOREIGN KEY(item_id) REFERENCES items (id)
);
INSERT INTO "item_keys" VALUES(1,'id0','{"condition": "neuron", "direction": null, "rows": [0]}');
INSERT INTO "item_keys" VALUES(2,'id1','{"condition": "random direction", "direction": null, "rows": [1]}');
INSERT INTO "item_keys" VALUES(3,'id2','{"condition": "random sentences", "direction": null, "rows": [2]}');
CREATE TABLE items (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	content JSON NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(study_id) REFERENCES studies (id)
);
INSERT INTO "items" VALUES(1,1,'{"kind": "annotation", "corpus": "tales", "sentences": ["The boat of story 0.", "The house of story 0.", "The tree of story 0.", "The lamp of story 0.", "The chair of story 0.", "The river of story 0.", "The cloud of story 0.", "The stone of story 0.", "The bread of story 0.", "The horse of story 0."]}');
INSERT INTO "items" VALUES(2,1,'{"kind": "annotation", "corpus": "tales", "sentences": ["The boat of story 1.", "The house of story 1.", "The tree of story 1.", "The lamp of story 1.", "The chair of story 1.", "The river of story 1.", "The cloud of story 1.", "The stone of story 1.", "The bread of story 1.", "The horse of story 1."]}');
INSERT INTO "items" VALUES(3,1,'{"kind": "annotation", "corpus": "tales", "sentences": ["The boat of story 2.", "The house of story 2.", "The tree of story 2.", "The lamp of story 2.", "The chair of story 2.", "The river of story 2.", "The cloud of story 2.", "The stone of story 2.", "The bread of story 2.", "The horse of story 2."]}');
CREATE TABLE pattern_merges (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	answer_a INTEGER NOT NULL, 
	place_a INTEGER NOT NULL, 
	answer_b INTEGER NOT NULL, 
	place_b INTEGER NOT NULL, 
	same BOOLEAN NOT NULL, 
	decided_at DATETIME NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (answer_a, place_a, answer_b, place_b), 
	FOREIGN KEY(study_id) REFERENCES studies (id), 
	FOREIGN KEY(answer_a) REFERENCES answers (id), 
	FOREIGN KEY(answer_b) REFERENCES answers (id)
);
CREATE TABLE studies (
	id INTEGER NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	title VARCHAR(200) NOT NULL, 
	instructions VARCHAR(10000) NOT NULL, 
	annotators_per_item INTEGER NOT NULL, 
	release_after INTEGER NOT NULL, 
	seed BIGINT NOT NULL, 
	source JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	closed_at DATETIME, 
	PRIMARY KEY (id)
);
INSERT INTO "studies" VALUES(1,'the first','annotation','Patterns in sentences','Read the sentences. Is there a pattern that at least three of them share, in what they say or in how they are written? If so, name it and mark the sentences that show it. You may name several patterns. If you see none, say so: many sets have none.',2,3600,0,'{}','2026-11-16 15:21:25.198029',NULL);
CREATE TABLE theodolite_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT theodolite_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "theodolite_version" VALUES('0001');
CREATE INDEX ix_items_study_id ON items (study_id);
CREATE INDEX ix_assignments_annotator_id ON assignments (annotator_id);
CREATE INDEX ix_pattern_merges_study_id ON pattern_merges (study_id);
COMMIT;
